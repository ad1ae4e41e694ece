"""Reads .vtp files and prints what they hold."""
import json
import sys

try:
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
except ImportError:
    sys.exit(print("pip install vtk for the Python that DRYSTONE_VTK_PYTHON names", file=sys.stderr) or 77)


def read(name):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(name)
    reader.Update()
    data = reader.GetOutput()
    force = data.GetPointData().GetArray("force")
    return {
        "points": data.GetNumberOfPoints(),
        "polys": data.GetNumberOfPolys(),
        "force": [force.GetTuple(k) for k in range(force.GetNumberOfTuples())] if force else None,
    }


print(json.dumps([read(name) for name in sys.argv[1:]]))
