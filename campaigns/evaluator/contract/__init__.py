"""What crosses the border between the web side and the measuring side.

A `Job` goes in as one JSON file, a `Report` comes out as another; nothing else is shared. Both are
frozen values with a schema number, so a web server and a GPU worker of different versions refuse
each other instead of misreading. Standard library only: this package is imported on both sides.
"""

from campaigns.evaluator.contract.files import (
    dump,
    dump_line,
    load_job,
    load_line,
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
from campaigns.evaluator.contract.stream import (
    FACTS_FILE,
    BuildFacts,
    BuildResult,
    ScreenResult,
    Stream,
    VariantOrder,
)
from campaigns.evaluator.contract.timing import (
    CopiedOutput,
    KernelLaunch,
    OwnKernel,
    Repeats,
    Timer,
    Timing,
    Traced,
)

__all__ = [
    "FACTS_FILE",
    "LOOKS",
    "SCHEMA",
    "BuildFacts",
    "BuildResult",
    "Case",
    "CaseReport",
    "ContractError",
    "CopiedOutput",
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
    "ScreenResult",
    "Source",
    "Stream",
    "Timer",
    "Timing",
    "Traced",
    "VariantOrder",
    "dump",
    "dump_line",
    "load_job",
    "load_line",
    "load_machine_code",
    "load_report",
    "load_sanitized",
    "mean_interval",
    "protocol_from",
]
