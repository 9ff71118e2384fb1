"""What crosses the border between the web side and the measuring side.

A `Job` goes in as one JSON file, a `Report` comes out as another; nothing else is shared. Both are
frozen values with a schema number, so a web server and a GPU worker of different versions refuse
each other instead of misreading. Standard library only: this package is imported on both sides.
"""

from campaigns.evaluator.contract.files import (
    dump,
    load_job,
    load_machine_code,
    load_report,
    load_sanitized,
    protocol_from,
)
from campaigns.evaluator.contract.job import SCHEMA, Case, Job, Limits, Param, Protocol, Source
from campaigns.evaluator.contract.looks import LOOKS, Look, MeanInterval, mean_interval
from campaigns.evaluator.contract.reading import ContractError
from campaigns.evaluator.contract.report import (
    CaseReport,
    Fault,
    Function,
    MachineCode,
    Moment,
    Outcome,
    Phase,
    Report,
    Sanitized,
)
from campaigns.evaluator.contract.timing import (
    KernelLaunch,
    OwnKernel,
    Repeats,
    Timer,
    Timing,
    Traced,
)

__all__ = [
    "LOOKS",
    "SCHEMA",
    "Case",
    "CaseReport",
    "ContractError",
    "Fault",
    "Function",
    "Job",
    "KernelLaunch",
    "Limits",
    "Look",
    "MachineCode",
    "MeanInterval",
    "Moment",
    "Outcome",
    "OwnKernel",
    "Param",
    "Phase",
    "Protocol",
    "Repeats",
    "Report",
    "Sanitized",
    "Source",
    "Timer",
    "Timing",
    "Traced",
    "dump",
    "load_job",
    "load_machine_code",
    "load_report",
    "load_sanitized",
    "mean_interval",
    "protocol_from",
]
