import { type HookPort, judgeByAgent } from '@slipway/agent';
import type { HookConfig } from '@slipway/contracts/events';
import type { ActionServerClient } from '../sandbox/action-server-client.js';

/**
 * Hooks as commands in the sandbox, in a process group of their own and with the environment of every shell. `null`
 * when there are none.
 */
export function hookPort(
  config: HookConfig,
  actionServer: ActionServerClient,
  sessionId: string,
  workingDir: string,
): HookPort | null {
  if (!Object.values(config).some((matchers) => Array.isArray(matchers) && matchers.length > 0)) return null;
  return {
    config,
    sessionId,
    workingDir,
    judge: judgeByAgent,
    async run(command, input, timeout, signal) {
      // The route has no standard input of its own.
      const json = Buffer.from(JSON.stringify(input)).toString('base64');
      const piped = `printf %s ${json} | base64 -d | bash -c ${quote(command)}`;
      const env = {
        OPENHANDS_PROJECT_DIR: workingDir,
        CLAUDE_PROJECT_DIR: workingDir,
        OPENHANDS_SESSION_ID: sessionId,
      };
      return actionServer.runCommand({ command: piped, cwd: workingDir, timeout, env }, signal);
    },
  };
}

/** The hooks of both, in this order. */
export function joinHooks(first: HookConfig, second: HookConfig): HookConfig {
  return {
    pre_tool_use: [...first.pre_tool_use, ...second.pre_tool_use],
    post_tool_use: [...first.post_tool_use, ...second.post_tool_use],
    user_prompt_submit: [...first.user_prompt_submit, ...second.user_prompt_submit],
    session_start: [...first.session_start, ...second.session_start],
    session_end: [...first.session_end, ...second.session_end],
    stop: [...first.stop, ...second.stop],
  };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
