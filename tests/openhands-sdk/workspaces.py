"""Scenarios of a remote workspace: commands, files, git."""

import asyncio
import hashlib
import os
import pathlib
import tempfile
import time

from conversations import until, workspace_of
from openhands.sdk import LLM, Agent, Conversation
from openhands.sdk.workspace import AsyncRemoteWorkspace, RemoteWorkspace


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


def own_agent(sandbox, names):
    """What a client that brings its own agent asks of its workspace first."""
    workspace = workspace_of(sandbox)
    for name, value in names.items():
        workspace.client.post("/api/slipway/secrets", json={"variables": {name: value}, "git": []}, headers={"x-slipway-caller-key": sandbox["appKey"]}).raise_for_status()
    llm = workspace.get_llm(model="openai/scripted", base_url=sandbox["model"], api_key="sk-of-the-test-0123456789")
    conversation = Conversation(agent=Agent(llm=llm, tools=[], mcp_config=workspace.get_mcp_config()), workspace=workspace, visualizer=None)
    secrets = workspace.get_secrets()
    conversation.update_secrets({f"ALSO_{name}": secret for name, secret in secrets.items()})
    printed = workspace.execute_command("; ".join(f'test "$ALSO_{name}" = "${name}" && echo "it is $ALSO_{name}"' for name in names)).stdout
    try:
        workspace.get_llm(profile_name="none")
        profile = None
    except FileNotFoundError as error:
        profile = str(error)
    value = workspace._get_secret_value(next(iter(names)))
    one = workspace.get_secrets(names=["none"])
    return {"secrets": sorted(secrets), "one": one, "printed": printed, "profile": profile, "value": value, "model": llm.model}


def scoped(sandbox):
    """A workspace of one conversation, and the same without waiting."""
    conversation = Conversation(agent=Agent(llm=LLM(usage_id="agent", model="openai/none", api_key="none"), tools=[]), workspace=workspace_of(sandbox), visualizer=None)
    workspace = RemoteWorkspace(host=sandbox["url"], api_key=sandbox["key"], working_dir=sandbox["directory"], runtime_conversation_id=conversation.id)
    workspace.file_upload(b"bytes", f"{sandbox['directory']}/scoped.bin")
    out = workspace.execute_command("cat scoped.bin", cwd=sandbox["directory"]).stdout
    released = workspace.release_runtime()
    return {"out": out, "released": released, "async": asyncio.run(without_waiting(sandbox))}


async def without_waiting(sandbox):
    workspace = AsyncRemoteWorkspace(host=sandbox["url"], api_key=sandbox["key"], working_dir=sandbox["directory"])
    info = await workspace.get_server_info()
    result = await workspace.execute_command("echo out; exit 3", cwd=sandbox["directory"])
    started = await workspace.start_command("sleep 60", timeout=90)
    await workspace.stop_command(started)
    with tempfile.TemporaryDirectory() as folder:
        up = await workspace.file_upload(b"some bytes", f"{sandbox['directory']}/async.bin")
        down = await workspace.file_download(f"{sandbox['directory']}/async.bin", pathlib.Path(folder, "back"))
        same = pathlib.Path(folder, "back").read_bytes() == b"some bytes"
    await workspace.execute_command("git init -q -b main .; echo new > async.txt", cwd=sandbox["directory"])
    changes = [str(change.path) for change in await workspace.git_changes(".")]
    diff = await workspace.git_diff("async.txt")
    await workspace.reset_client()
    return {"exit": result.exit_code, "moved": [up.success, down.success, same], "changed": "async.txt" in changes, "diff": diff.modified, "alive": workspace.alive, "info": "version" in info}


SCENARIOS = {work.__name__: work for work in (commands, files, git, skills, own_agent, scoped)}
