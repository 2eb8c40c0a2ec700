import { byAnswersSoFar, type ModelRequest, type ModelTurn, textOfMessage } from '@slipway/testing';

/**
 * What the model does in one harness: turns in the order of its answers, or a decision for each request (the first is
 * number 1).
 */
export type Harness =
  | readonly ModelTurn[]
  | ((request: ModelRequest, number: number) => ModelTurn | Promise<ModelTurn>);

/**
 * Scripts of many conversations on one model server. A message that begins with `[name]` opens that harness, until the
 * next such message.
 */
export class ScriptBook {
  private readonly harnesses = new Map<string, { harness: Harness; requests: ModelRequest[] }>();

  /** @returns the message that opens the harness. */
  write(name: string, harness: Harness): string {
    if (this.harnesses.has(name)) throw new Error(`there is a harness ${name} already`);
    this.harnesses.set(name, { harness, requests: [] });
    return `[${name}] Please do it.`;
  }

  /** Every request of the harness so far. */
  requestsOf(name: string): readonly ModelRequest[] {
    return this.harnesses.get(name)?.requests ?? [];
  }

  readonly script = (request: ModelRequest): ModelTurn | Promise<ModelTurn> => {
    const name = (request.body.messages ?? [])
      .filter((message) => message.role === 'user')
      .map((message) => /^\[([^\]]+)\]/.exec(textOfMessage(message))?.[1])
      .findLast((found) => found !== undefined);
    const known = this.harnesses.get(name ?? '');
    if (known === undefined) throw new Error(`no harness for a message that begins with [${name}]`);
    known.requests.push(request);
    return typeof known.harness === 'function'
      ? known.harness(request, known.requests.length)
      : byAnswersSoFar(known.harness)(request);
  };
}

/** The directory in which the agent has to work. */
export function workspaceOf(request: ModelRequest): string {
  const prompt = textOfMessage(request.body.messages?.[0] ?? { role: 'system' });
  const directory =
    /Work in (\S+), an empty git repository/.exec(prompt)?.[1] ?? / is in (\S+)\. Work there/.exec(prompt)?.[1];
  if (directory === undefined) throw new Error(`the system prompt names no workspace: ${prompt.slice(-300)}`);
  return directory;
}

export const finish = (message = 'Done.'): ModelTurn => ({ toolCalls: [{ name: 'finish', arguments: { message } }] });
export const terminal = (command: string, more: Readonly<Record<string, unknown>> = {}): ModelTurn => ({
  toolCalls: [{ name: 'terminal', arguments: { command, ...more } }],
});
