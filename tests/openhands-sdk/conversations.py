"""Scenarios of a remote conversation."""

import threading
import time

import httpx
from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.sdk.conversation.impl.remote_conversation import RemoteConversation
from openhands.sdk.conversation.exceptions import ConversationRunError
from openhands.sdk.event import Event
from openhands.sdk.hooks import HookConfig, HookDefinition, HookMatcher
from openhands.sdk.security.confirmation_policy import AlwaysConfirm, ConfirmRisky, NeverConfirm
from openhands.sdk.security.llm_analyzer import LLMSecurityAnalyzer
from openhands.sdk.workspace import RemoteWorkspace
from openhands.tools.apply_patch import ApplyPatchTool
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.glob import GlobTool
from openhands.tools.grep import GrepTool
from openhands.tools.task_tracker import TaskTrackerTool
from openhands.tools.terminal import TerminalTool
from pydantic import SecretStr

TOOLS = [TerminalTool.name, FileEditorTool.name, TaskTrackerTool.name]
MORE_TOOLS = [GlobTool.name, GrepTool.name, ApplyPatchTool.name, TerminalTool.name]


def workspace_of(sandbox):
    return RemoteWorkspace(host=sandbox["url"], api_key=sandbox["key"], working_dir=sandbox["directory"])


def converse(sandbox, tools=TOOLS, stream=False, mcp=None, **more):
    """A conversation, and the events that its callback was given."""
    llm = LLM(
        usage_id="agent",
        model="openai/scripted",
        base_url=sandbox["model"],
        api_key=SecretStr("sk-of-the-test-0123456789"),
        num_retries=1,
        stream=stream,
    )
    agent = Agent(llm=llm, tools=[Tool(name=name) for name in tools], **({} if mcp is None else {"mcp_config": mcp}))
    seen = []
    workspace = workspace_of(sandbox)
    conversation = Conversation(agent=agent, workspace=workspace, callbacks=[seen.append], visualizer=None, **more)
    return conversation, seen


def until(what, look, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = look()
        if value:
            return value
        time.sleep(0.02)
    raise TimeoutError(what)


def poll(conversation):
    return conversation.state.refresh_from_server()["execution_status"]


def told(conversation, seen, **more):
    """What the client knows in the end: its own list, what its callback was given, and the log read anew, event by event, by the SDK's classes."""
    events = list(conversation.state.events)
    log = read_log(conversation)
    let_go(conversation)
    return {
        "id": str(conversation.id),
        "status": conversation.state.execution_status.value,
        "events": [event.model_dump(mode="json", exclude_none=True) for event in events],
        "called_back": [event.id for event in seen],
        "log": [event.id for event in log],
        **more,
    }


def let_go(conversation):
    """Closes it without waiting: its thread ends only with the next frame, or after 5 s."""
    threading.Thread(target=conversation.close, daemon=True).start()


def read_log(conversation):
    events, page = [], None
    while True:
        answer = conversation.workspace.client.get(
            f"/api/conversations/{conversation.id}/events/search", params={"limit": 7, **({"page_id": page} if page else {})}
        ).json()
        events += [Event.model_validate(event) for event in answer["items"]]
        page = answer["next_page_id"]
        if page is None:
            return events


def with_tools(sandbox, message, tools=TOOLS):
    conversation, seen = converse(sandbox, MORE_TOOLS if tools == "more" else tools)
    conversation.send_message(message)
    conversation.run(timeout=120)
    metrics = conversation.conversation_stats.get_combined_metrics()
    agent = conversation.state.agent
    return told(
        conversation,
        seen,
        tokens=metrics.accumulated_token_usage.prompt_tokens,
        agent_tools=[tool.name for tool in agent.tools],
        key=agent.llm.api_key.get_secret_value() if agent.llm.api_key else None,
    )


def with_mcp(sandbox, message, servers):
    conversation, seen = converse(sandbox, mcp=servers)
    updates = lambda: [event.value for event in list(conversation.state.events) if event.kind == "ConversationStateUpdateEvent" and event.key == "mcp_servers"]
    until("every server is there or is not", lambda: any(all(server["state"] != "connecting" for server in update["servers"]) for update in updates()))
    conversation.send_message(message)
    conversation.run(timeout=120)
    client = conversation.workspace.client
    server = {"type": "stdio", **servers["helper"]}
    tried = client.post("/api/mcp/test", json={"server": server, "tool_call": {"name": "add", "arguments": {"a": 1, "b": 2}}}).json()
    return told(conversation, seen, tried=tried, classes=[type(event.observation).__name__ for event in conversation.state.events if hasattr(event, "observation")])


def streamed(sandbox, message):
    pieces = []
    conversation, seen = converse(sandbox, stream=True, token_callbacks=[lambda chunk: pieces.append(chunk.choices[0].delta.content or "")])
    conversation.send_message(message)
    conversation.run(timeout=120)
    return told(conversation, [event for event in seen if event.kind != "StreamingDeltaEvent"], text="".join(pieces))


def confirmed(sandbox, message):
    conversation, seen = converse(sandbox)
    conversation.set_confirmation_policy(AlwaysConfirm())
    conversation.send_message(message)
    conversation.run(timeout=120)
    statuses = [conversation.state.execution_status.value]
    conversation.reject_pending_actions("not like this")
    conversation.run(timeout=120)
    statuses.append(conversation.state.execution_status.value)
    policy = conversation.state.confirmation_policy.kind
    conversation.set_confirmation_policy(NeverConfirm())
    conversation.run(timeout=120)
    statuses.append(conversation.state.execution_status.value)
    return told(conversation, seen, statuses=statuses, policy=policy)


def risky(sandbox, message):
    conversation, seen = converse(sandbox)
    conversation.set_confirmation_policy(ConfirmRisky(threshold="MEDIUM"))
    conversation.send_message(message)
    conversation.run(timeout=120)
    waiting = conversation.state.execution_status.value
    conversation.run(timeout=120)
    return told(conversation, seen, waiting=waiting)


def with_secrets(sandbox, message, secrets):
    conversation, seen = converse(sandbox)
    conversation.update_secrets(secrets)
    conversation.send_message(message)
    conversation.run(timeout=120)
    return told(conversation, seen)


def forked(sandbox, first, second):
    conversation, seen = converse(sandbox, tags={"team": "blue"})
    conversation.send_message(first)
    conversation.run(timeout=120)
    before = [event.id for event in read_log(conversation)]
    fork = conversation.fork(title="another way", tags={"team": "red"})
    began = [event.id for event in read_log(fork)]
    tokens = fork.conversation_stats.get_combined_metrics().accumulated_token_usage.prompt_tokens
    fork.send_message(second)
    fork.run(timeout=120)
    info = fork.state.refresh_from_server()
    part = conversation.fork(from_event_id=before[1], reset_metrics=False)
    part_log = [event.id for event in read_log(part)]
    let_go(part)
    other = told(fork, [])
    return told(conversation, seen, before=before, began=began, tokens=tokens, info={key: info[key] for key in ("title", "tags", "forked_from_conversation_id")}, fork=other, part=part_log)


def condensed(sandbox, message, question):
    conversation, seen = converse(sandbox)
    conversation.send_message(message)
    conversation.run(timeout=120)
    count = len(read_log(conversation))
    answer = conversation.ask_agent(question)
    asked = [event.kind for event in read_log(conversation)[count:]]
    conversation.condense()
    until("the condensation", lambda: any(event.kind == "Condensation" for event in list(conversation.state.events)))
    return told(conversation, seen, answer=answer, asked=asked)


def paused(sandbox, message):
    conversation, seen = converse(sandbox)
    conversation.send_message(message)
    conversation.run(blocking=False)
    until("the first action", lambda: any(event.kind == "ActionEvent" for event in list(conversation.state.events)))
    conversation.pause()
    until("the pause", lambda: poll(conversation) == "paused")
    kinds = [event.kind for event in read_log(conversation)]
    conversation.run(timeout=120)
    return told(conversation, seen, kinds=kinds)


def interrupted(sandbox, message):
    conversation, seen = converse(sandbox)
    conversation.send_message(message)
    conversation.run(blocking=False)
    until("the first action", lambda: any(event.kind == "ActionEvent" for event in list(conversation.state.events)))
    began = time.monotonic()
    conversation.interrupt()
    took = time.monotonic() - began
    until("the rest", lambda: poll(conversation) == "paused")
    return told(conversation, seen, took=took)


def cut_off(sandbox, message):
    conversation, seen = converse(sandbox)
    conversation.send_message(message)
    conversation.run(timeout=120, poll_interval=0.2)
    # A callback is not given what was there before it.
    until("what was missed", lambda: {event.id for event in read_log(conversation)[1:]} <= {event.id for event in seen})
    return told(conversation, seen)


def named(sandbox, message):
    conversation, seen = converse(sandbox)
    conversation.send_message(message)
    conversation.run(timeout=120)
    conversation.set_title("a name of a person")
    title = conversation.state.refresh_from_server()["title"]
    made = conversation.generate_title()
    attached = RemoteConversation.attach(workspace_of(sandbox), conversation.id, visualizer=None)
    known = [event.id for event in attached.state.events if event.kind != "ConversationStateUpdateEvent"]
    let_go(attached)
    return told(conversation, seen, title=title, made=made, attached=known)


def gone_back(sandbox, message, again):
    conversation, seen = converse(sandbox)
    conversation.send_message(message)
    conversation.run(timeout=120)
    first = next(event for event in read_log(conversation) if event.kind == "ActionEvent")
    conversation.navigate_to(first.id)
    conversation.send_message(again)
    conversation.run(timeout=120)
    log = [event.kind for event in read_log(conversation)]
    conversation.navigate_to(None)
    try:
        conversation.navigate_to(first.id)
        refused = None
    except httpx.HTTPStatusError as error:
        refused = error.response.json()["code"]
    return told(conversation, seen, kinds=log, refused=refused)


def hooked(sandbox, message, command):
    """A hook that says no, as the client brings it with the start."""
    hooks = HookConfig(pre_tool_use=[HookMatcher(matcher="terminal", hooks=[HookDefinition(command=command)])])
    conversation, seen = converse(sandbox, hook_config=hooks)
    conversation.send_message(message)
    conversation.run(timeout=120)
    kept = conversation.state.hook_config.pre_tool_use[0].hooks[0].command
    return told(conversation, seen, classes=sorted({type(event).__name__ for event in read_log(conversation)}), kept=kept)


def failed(sandbox, message):
    conversation, seen = converse(sandbox)
    conversation.send_message(message)
    try:
        conversation.run(timeout=120)
        failure = None
    except ConversationRunError as error:
        failure = str(error)
    return told(conversation, seen, failure=failure, classes=sorted({type(event).__name__ for event in read_log(conversation)}))


def every_word_of_its_state(sandbox, message, secrets):
    """Each property of the state, and each method that nothing else here calls."""
    conversation, seen = converse(sandbox)
    conversation.update_secrets(secrets)
    conversation.set_security_analyzer(LLMSecurityAnalyzer())
    conversation.send_message(message)
    conversation.run(timeout=120)
    state = conversation.state
    state.refresh_from_server()
    words = {
        "id": str(state.id) == str(conversation.id),
        "status": state.execution_status.value,
        "policy": type(state.confirmation_policy).__name__,
        "analyzer": type(state.security_analyzer).__name__,
        "skills": [state.activated_knowledge_skills, state.invoked_skills],
        "agent": type(state.agent).__name__,
        "workspace": state.workspace["working_dir"] == sandbox["directory"],
        "directory": isinstance(state.persistence_dir, str),
        "stats": type(state.stats).__name__,
        "hooks": state.hook_config,
        "secrets": type(state.secret_registry).__name__,
        "events": [type(state.events[0]).__name__, type(state.events[-1]).__name__, len(state.events) == len(list(state.events)), len(state.events[0:2])],
        "dumped": state.model_dump()["id"] == str(conversation.id) and len(state.model_dump_json()) > 100,
    }
    conversation.set_security_analyzer(None)
    words["without analyzer"] = state.refresh_from_server()["security_analyzer"]
    try:
        conversation.load_plugin("a-plugin@a-market")
    except httpx.HTTPStatusError as error:
        words["plugin"] = [error.response.status_code, error.response.json()["detail"]]
    return told(conversation, seen, words=words)


def deleted(sandbox, message):
    conversation, _ = converse(sandbox, delete_on_close=True)
    conversation.send_message(message)
    client = conversation.workspace.client
    ids = [item["id"] for item in client.get("/api/conversations/search", params={"limit": 100}).json()["items"]]
    count = client.get("/api/conversations/count").json()
    let_go(conversation)
    until("the end of it", lambda: client.get(f"/api/conversations/{conversation.id}").status_code == 404)
    return {"listed": str(conversation.id) in ids, "count": count}


SCENARIOS = {work.__name__: work for work in (with_tools, with_mcp, streamed, confirmed, risky, with_secrets, forked, condensed, paused, interrupted, cut_off, named, gone_back, hooked, failed, every_word_of_its_state, deleted)}
