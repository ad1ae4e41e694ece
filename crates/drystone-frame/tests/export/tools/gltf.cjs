// Validates a .glb with the Khronos validator and prints what it found.
const fs = require('fs');
const path = require('path');
let validator;
try {
  const folder = process.env.DRYSTONE_GLTF_VALIDATOR || process.cwd();
  validator = require(require.resolve('gltf-validator', { paths: [path.resolve(folder)] }));
} catch {
  console.error('npm install gltf-validator in the folder that DRYSTONE_GLTF_VALIDATOR names');
  process.exit(77);
}
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[2]))).then((report) => {
  console.log(JSON.stringify(report.issues));
});
