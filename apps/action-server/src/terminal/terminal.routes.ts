import { ConfigureRequest } from '@slipway/contracts/actions';
import { asWorkspacePath } from '../files/workspace-path.js';
import { jsonBody } from '../http/body.js';
import type { Routes } from '../http/server.js';
import type { ShellEnvironment } from './shell-environment.js';
import type { Terminals } from './terminals.js';

export interface ConfiguredParts {
  readonly workspace: string;
  readonly environment: ShellEnvironment;
  readonly terminal: Terminals;
  /** Called after the environment of new programs has changed. */
  readonly onConfigured: () => void;
}

export function terminalRoutes({ workspace, environment, terminal, onConfigured }: ConfiguredParts): Routes {
  return {
    'POST /configure': async ({ request }) => {
      const { env, working_dir: directory, typed } = await jsonBody(request, ConfigureRequest);
      environment.configure(env, typed);
      terminal.renew(directory === undefined ? undefined : asWorkspacePath(workspace, directory));
      onConfigured();
      return { success: true };
    },
    'POST /interrupt_terminal': async () => {
      await terminal.interrupt();
      return { success: true };
    },
  };
}
