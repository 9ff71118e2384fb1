"""What crosses the border between the web side and the measuring side.

A `Job` goes in as one JSON file, a `Report` comes out as another; nothing else is shared. Both are
frozen values with a schema number, so a web server and a GPU worker of different versions refuse
each other instead of misreading. Standard library only: this package is imported on both sides.

Here are the values of both. Beside them `files` reads and writes them, and `stream` has what
variants carry; `problem`, `layout` and `signature` say what a kernel computes and is called with;
`backends`, `programs`, `sandbox` and `ceilings` say what a host has to build and to measure with.
"""

from campaigns.evaluator.contract.job import (
    SCHEMA,
    Case,
    ContractError,
    Job,
    Limits,
    Look,
    Param,
    Protocol,
    Source,
)
from campaigns.evaluator.contract.report import (
    CaseReport,
    Fault,
    Function,
    MachineCode,
    Moment,
    Outcome,
    Phase,
    Profile,
    Report,
    Resources,
    Sanitized,
)
from campaigns.evaluator.contract.timing import (
    CopiedOutput,
    DevicePair,
    KernelLaunch,
    OwnKernel,
    Repeats,
    Timer,
    Timing,
    Traced,
)

__all__ = ["SCHEMA", "Case", "ContractError", "Job", "Limits", "Look", "Param", "Protocol"]
__all__ += [
    "CaseReport",
    "Fault",
    "Function",
    "MachineCode",
    "Moment",
    "Outcome",
    "Phase",
    "Profile",
]
__all__ += ["CopiedOutput", "DevicePair", "KernelLaunch", "OwnKernel", "Repeats", "Timer"]
__all__ += ["Report", "Resources", "Sanitized", "Source", "Timing", "Traced"]
