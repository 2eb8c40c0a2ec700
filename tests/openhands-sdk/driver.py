"""Runs scenarios on OpenHands' SDK, as it comes from PyPI: a JSON line in asks for one, a JSON line out is what it gave back."""

import json
import logging
import os
import sys
import traceback

os.environ |= {"OPENHANDS_SUPPRESS_BANNER": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
out = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import clouds  # noqa: E402
import conversations  # noqa: E402
import runtimes  # noqa: E402
import workspaces  # noqa: E402

logging.disable(logging.INFO)
SCENARIOS = {name: work for module in (clouds, conversations, runtimes, workspaces) for name, work in module.SCENARIOS.items()}

print(json.dumps({"ready": True}), file=out)
for line in sys.stdin:
    call = json.loads(line)
    try:
        answer = {"value": SCENARIOS[call["scenario"]](**call["args"])}
    except BaseException:
        answer = {"error": traceback.format_exc()}
    print(json.dumps(answer), file=out)
