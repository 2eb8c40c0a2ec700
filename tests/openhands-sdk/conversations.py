"""Scenarios of a remote conversation."""

from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.sdk.event import Event
from openhands.sdk.workspace import RemoteWorkspace
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.task_tracker import TaskTrackerTool
from openhands.tools.terminal import TerminalTool
from pydantic import SecretStr


def workspace_of(sandbox):
    return RemoteWorkspace(host=sandbox["url"], api_key=sandbox["key"], working_dir=sandbox["directory"])


def agent_of(sandbox, **more):
    llm = LLM(usage_id="agent", model="openai/scripted", base_url=sandbox["model"], api_key=SecretStr("sk-of-the-test-0123456789"), num_retries=1)
    return Agent(llm=llm, tools=[Tool(name=TerminalTool.name), Tool(name=FileEditorTool.name), Tool(name=TaskTrackerTool.name)], **more)


def converse(sandbox, **more):
    """A conversation, and the events that its callback was given."""
    seen = []
    conversation = Conversation(agent=agent_of(sandbox), workspace=workspace_of(sandbox), callbacks=[seen.append], visualizer=None, **more)
    return conversation, seen


def story(events):
    return [event.value if kind_of(event) == "status" else kind_of(event) for event in events]


def kind_of(event):
    if type(event).__name__ != "ConversationStateUpdateEvent":
        return type(event).__name__
    return "status" if event.key == "execution_status" else event.key


def with_tools(sandbox, message):
    conversation, seen = converse(sandbox)
    conversation.send_message(message)
    conversation.run(timeout=60)
    events = list(conversation.state.events)
    value = {
        "id": str(conversation.id),
        "status": conversation.state.execution_status.value,
        "events": [event.model_dump(mode="json", exclude_none=True) for event in events],
        "called_back": [event.id for event in seen],
        "cost": conversation.conversation_stats.get_combined_metrics().model_dump(mode="json"),
        "agent": conversation.state.agent.model_dump(mode="json"),
    }
    conversation.close()
    return value


SCENARIOS = {"with_tools": with_tools}
