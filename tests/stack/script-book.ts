import { byAnswersSoFar, type ModelRequest, type ModelTurn, textOfMessage } from '@slipway/testing';

/** What the model does in one scene: turns in the order of its answers, or a decision for each request (the first is number 1). */
export type Scene = readonly ModelTurn[] | ((request: ModelRequest, number: number) => ModelTurn | Promise<ModelTurn>);

/** Scripts of many conversations on one model server. A message that begins with `[name]` opens that scene, until the next such message. */
export class ScriptBook {
  private readonly scenes = new Map<string, { scene: Scene; requests: ModelRequest[] }>();

  /** @returns the message that opens the scene. */
  write(name: string, scene: Scene): string {
    if (this.scenes.has(name)) throw new Error(`there is a scene ${name} already`);
    this.scenes.set(name, { scene, requests: [] });
    return `[${name}] Please do it.`;
  }

  /** Every request of the scene so far. */
  requestsOf(name: string): readonly ModelRequest[] {
    return this.scenes.get(name)?.requests ?? [];
  }

  readonly script = (request: ModelRequest): ModelTurn | Promise<ModelTurn> => {
    const name = (request.body.messages ?? [])
      .filter((message) => message.role === 'user')
      .map((message) => /^\[([^\]]+)\]/.exec(textOfMessage(message))?.[1])
      .findLast((found) => found !== undefined);
    const known = this.scenes.get(name ?? '');
    if (known === undefined) throw new Error(`no scene for a message that begins with [${name}]`);
    known.requests.push(request);
    return typeof known.scene === 'function' ? known.scene(request, known.requests.length) : byAnswersSoFar(known.scene)(request);
  };
}

/** The directory in which the agent was told to work. */
export function workspaceOf(request: ModelRequest): string {
  const prompt = textOfMessage(request.body.messages?.[0] ?? { role: 'system' });
  const directory = /Work in (\S+), an empty git repository/.exec(prompt)?.[1] ?? / is in (\S+)\. Work there/.exec(prompt)?.[1];
  if (directory === undefined) throw new Error(`the system prompt names no workspace: ${prompt.slice(-300)}`);
  return directory;
}

export const finish = (message = 'Done.'): ModelTurn => ({ toolCalls: [{ name: 'finish', arguments: { message } }] });
export const terminal = (command: string, more: Readonly<Record<string, unknown>> = {}): ModelTurn => ({
  toolCalls: [{ name: 'terminal', arguments: { command, ...more } }],
});
