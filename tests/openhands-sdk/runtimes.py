"""Scenarios of a workspace that runtime-api starts."""

import time

from openhands.workspace import APIRemoteWorkspace


def open_workspace(api, session, **more):
    return APIRemoteWorkspace(
        runtime_api_url=api["url"], runtime_api_key=api["key"], server_image=api["image"], session_id=session, working_dir="/", **more
    )


def lifecycle(api, session):
    began = time.monotonic()
    workspace = open_workspace(api, session)
    took = time.monotonic() - began
    home = workspace.execute_command("pwd").stdout.strip()
    workspace.execute_command(f"echo kept > {home}/kept.txt")
    first = {"url": workspace.host, "key": workspace.api_key, "runtime": workspace._runtime_id}
    workspace.pause()
    paused = statuses(workspace, session)
    workspace.resume()
    # This client keeps the key and the address that it had.
    after = workspace.execute_command(f"cat {home}/kept.txt")
    running = statuses(workspace, session)

    # Another client finds the session and leaves it running.
    attached = open_workspace(api, session, keep_alive=True)
    same = {"url": attached.host, "key": attached.api_key, "runtime": attached._runtime_id}
    attached.cleanup()
    still = statuses(workspace, session)

    # One that pauses when it goes, and one that finds it paused.
    pausing = open_workspace(api, session, pause_on_close=True)
    pausing.cleanup()
    left = statuses(workspace, session)
    again = open_workspace(api, session)
    kept = again.execute_command(f"cat {home}/kept.txt").stdout
    again.cleanup()
    stopped = statuses(workspace, session)
    workspace.keep_alive = True
    return {
        "took": took,
        "first": first,
        "paused": paused,
        "after": after.stdout,
        "running": running,
        "same": same,
        "still": still,
        "left": left,
        "kept": kept,
        "stopped": stopped,
    }


def statuses(workspace, session):
    answer = workspace.client.get(f"{workspace.runtime_api_url}/sessions/{session}", headers=workspace._api_headers).json()
    return [answer["status"], answer["pod_status"]]


def refused(api, session):
    try:
        open_workspace({**api, "key": "not the key"}, session)
    except Exception as error:
        return {"error": type(error).__name__, "status": error.response.status_code}
    return None


SCENARIOS = {work.__name__: work for work in (lifecycle, refused)}
