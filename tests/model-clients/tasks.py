"""The task of node-sdks.test.ts with the official SDKs for Python: argv ORIGIN KEY GPT CLAUDE. Prints what came back as JSON."""
import json
import sys

from anthropic import Anthropic
from openai import OpenAI

origin, key, gpt, claude = sys.argv[1:]
TASK = "What is the weather in Käseburg?"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
openai = OpenAI(base_url=f"{origin}/v1", api_key=key, max_retries=0)
anthropic = Anthropic(base_url=origin, api_key=key, max_retries=0)


def chat(model, stream):
    messages = [{"role": "user", "content": TASK}]
    tools = [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}]
    answers = []
    for _ in range(2):
        if stream:
            with openai.chat.completions.stream(model=model, messages=messages, tools=tools, stream_options={"include_usage": True}) as events:
                for _event in events:
                    pass
                answer = events.get_final_completion()
        else:
            answer = openai.chat.completions.create(model=model, messages=messages, tools=tools)
        answers.append(answer.to_dict())
        message = answer.choices[0].message
        messages.append(message.to_dict())
        for call in message.tool_calls or []:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "7"})
    return answers


def responses(model, stream):
    turns = [{"role": "user", "content": TASK}]
    tools = [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}]
    answers = []
    for _ in range(2):
        if stream:
            with openai.responses.stream(model=model, input=turns, tools=tools, store=False) as events:
                for _event in events:
                    pass
                answer = events.get_final_response()
        else:
            answer = openai.responses.create(model=model, input=turns, tools=tools, store=False)
        answers.append(answer.to_dict())
        for item in answer.output:
            turns.append(item.to_dict())
            if item.type == "function_call":
                turns.append({"type": "function_call_output", "call_id": item.call_id, "output": "7"})
    return answers


def messages(model, stream):
    turns = [{"role": "user", "content": TASK}]
    asked = {"model": model, "max_tokens": 1000, "tools": [{"name": "weather", "input_schema": SCHEMA}], "messages": turns}
    answers = []
    for _ in range(2):
        if stream:
            with anthropic.messages.stream(**asked) as events:
                answer = events.get_final_message()
        else:
            answer = anthropic.messages.create(**asked)
        answers.append(answer.to_dict())
        turns.append({"role": "assistant", "content": [block.to_dict() for block in answer.content]})
        results = [{"type": "tool_result", "tool_use_id": block.id, "content": "7"} for block in answer.content if block.type == "tool_use"]
        if results:
            turns.append({"role": "user", "content": results})
    return answers


found = {}
for stream in (False, True):
    found[f"chat {stream}"] = chat(gpt, stream)
    found[f"responses {stream}"] = responses(gpt, stream)
    found[f"messages {stream}"] = messages(claude, stream)
print(json.dumps(found))
