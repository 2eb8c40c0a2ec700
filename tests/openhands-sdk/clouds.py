"""Scenarios of a workspace that the app starts, as its clients of OpenHands Cloud do."""

import socket
import tempfile

from openhands.sdk import Agent, Conversation, Tool
from openhands.tools.terminal import TerminalTool
from openhands.workspace import OpenHandsCloudWorkspace

from conversations import let_go, read_log, until

# What a client brings into the folder that it works in.
BROUGHT = "brought.txt"
resolve = socket.getaddrinfo


def loopback(host, *rest, **named):
    """Names below `localhost` are this machine (RFC 6761); not every system's resolver knows."""
    name = host.decode() if isinstance(host, bytes) else host
    return resolve("127.0.0.1" if isinstance(name, str) and name.endswith(".localhost") else host, *rest, **named)


socket.getaddrinfo = loopback


def open_cloud(api, **more):
    return OpenHandsCloudWorkspace(cloud_api_url=api["url"], cloud_api_key=api["key"], **more)


def state_of(workspace, sandbox):
    [found] = workspace._send_api_request("GET", f"{workspace.cloud_api_url}/api/v1/sandboxes", params={"id": sandbox}).json()
    return [found["status"], found["session_api_key"] is not None, found["exposed_urls"] is not None]


def cloud(api, message, secret):
    workspace = open_cloud(api, keep_alive=True)
    sandbox = workspace._sandbox_id
    workspace.execute_command("echo kept > kept.txt")
    # The folder that their class works in by default, for files and for commands.
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as local:
        local.write("from the client")
        local.flush()
        uploaded = workspace.file_upload(local.name, f"{workspace.working_dir}/{BROUGHT}").success
    brought = workspace.execute_command(f"cat {BROUGHT}", cwd=workspace.working_dir).stdout
    with tempfile.TemporaryDirectory() as back:
        downloaded = workspace.file_download(f"{workspace.working_dir}/{BROUGHT}", f"{back}/back.txt").success
        returned = open(f"{back}/back.txt").read() if downloaded else None
    up = state_of(workspace, sandbox)
    llm = workspace.get_llm()
    secrets = workspace.get_secrets(names=[secret])
    told = {"sandbox": sandbox, "alive": workspace.alive, "up": up, "model": llm.model, "key": llm.api_key, "mcp": workspace.get_mcp_config(), "secrets": sorted(workspace.get_secrets()), "value": workspace._get_secret_value(secret)}

    told["directory"] = [workspace.working_dir, uploaded, brought, returned]
    conversation = Conversation(agent=Agent(llm=llm, tools=[Tool(name=TerminalTool.name)]), workspace=workspace, visualizer=None)
    conversation.update_secrets({f"ALSO_{name}": secret for name, secret in secrets.items()})
    conversation.send_message(message)
    conversation.run(timeout=120)
    told["status"] = conversation.state.execution_status.value
    told["events"] = [event.model_dump(mode="json", exclude_none=True) for event in read_log(conversation)]
    let_go(conversation)

    try:
        workspace.pause()
    except NotImplementedError as error:
        # Their class has no address for it; ours has one.
        told["pause"] = type(error).__name__
        workspace._send_api_request("POST", f"{workspace.cloud_api_url}/api/v1/sandboxes/{sandbox}/pause")
    until("the pause", lambda: state_of(workspace, sandbox)[0] == "PAUSED")
    told["paused"] = state_of(workspace, sandbox)
    # Resumed at once, perhaps before the pause is over: RUNNING is read when it answers.
    workspace.resume()
    until("it is up", lambda: state_of(workspace, sandbox)[0] == "RUNNING")
    kept = until("what was kept is there", lambda: workspace.execute_command("cat kept.txt").stdout)
    told["resumed"] = [state_of(workspace, sandbox), kept]

    other = open_cloud(api, sandbox_id=sandbox)
    told["attached"] = [other.host == workspace.host, other.execute_command("cat kept.txt").stdout]
    other.cleanup()
    told["deleted"] = state_of(workspace, sandbox)
    try:
        workspace.client.get("/api/settings").raise_for_status()
    except Exception as error:
        told["shut"] = error.response.status_code
    return told


def refused_by_cloud(api):
    try:
        open_cloud({**api, "key": "not a key"})
    except Exception as error:
        return error.response.status_code


SCENARIOS = {work.__name__: work for work in (cloud, refused_by_cloud)}
