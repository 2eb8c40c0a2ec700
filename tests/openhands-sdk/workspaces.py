"""Scenarios of a remote workspace: commands, files, git."""

import hashlib
import os
import pathlib
import tempfile
import time

from conversations import until, workspace_of


def commands(sandbox):
    workspace = workspace_of(sandbox)
    result = workspace.execute_command("echo out; echo err >&2; pwd; exit 3", cwd=sandbox["directory"])
    late = workspace.execute_command("sleep 30", timeout=1)
    started = workspace.start_command("echo begun; sleep 60", timeout=90)
    workspace.stop_command(started)
    stopped = until("the end of the command", lambda: workspace.get_command_output(started))
    workspace.stop_command("00000000-0000-4000-8000-000000000000")
    return {
        "result": result.model_dump(mode="json"),
        "late": late.model_dump(mode="json"),
        "stopped": stopped,
        "alive": workspace.alive,
        "info": workspace.get_server_info(),
    }


def files(sandbox, megabytes):
    workspace = workspace_of(sandbox)
    with tempfile.TemporaryDirectory() as folder:
        source, back = pathlib.Path(folder, "big"), pathlib.Path(folder, "back")
        source.write_bytes(os.urandom(1024 * 1024) * megabytes)
        began = time.monotonic()
        up = workspace.file_upload(source, f"{sandbox['directory']}/a folder/big.bin")
        middle = time.monotonic()
        down = workspace.file_download(f"{sandbox['directory']}/a folder/big.bin", back)
        end = time.monotonic()
        same = hashlib.sha256(source.read_bytes()).digest() == hashlib.sha256(back.read_bytes()).digest()
        missing = workspace.file_download(f"{sandbox['directory']}/not there", back)
    return {"up": up.model_dump(mode="json"), "down": down.model_dump(mode="json"), "same": same, "missing": missing.success, "seconds": [middle - began, end - middle]}


def git(sandbox):
    workspace = workspace_of(sandbox)
    commands = ["git init -q -b main .", "git config user.email a@b.c", "git config user.name A", "echo one > kept.txt", "echo gone > gone.txt", "git add .", "git commit -qm first"]
    made = workspace.execute_command(" && ".join([*commands, "echo two >> kept.txt", "rm gone.txt", "echo new > new.txt"]), cwd=sandbox["directory"])
    changes = workspace.git_changes(".")
    diff = workspace.git_diff("kept.txt")
    return {"made": made.exit_code, "changes": sorted([change.status.value, str(change.path)] for change in changes), "diff": diff.model_dump(mode="json")}


def skills(sandbox):
    workspace = workspace_of(sandbox)
    loaded, context = workspace.load_skills_from_agent_server(load_public=False, load_user=False, load_org=False)
    return {"skills": [{"name": skill.name, "content": skill.content, "trigger": type(skill.trigger).__name__} for skill in loaded]}


SCENARIOS = {work.__name__: work for work in (commands, files, git, skills)}
