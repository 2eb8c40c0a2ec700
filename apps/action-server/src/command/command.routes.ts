import { RunCommandRequest } from '@slipway/contracts/actions';
import { jsonBody } from '../http/body.js';
import type { Routes } from '../http/server.js';
import type { CommandRunner } from './command-runner.js';

export const commandRoutes = (commands: CommandRunner): Routes => ({
  'POST /bash/execute': async ({ request, signal }) => commands.run(await jsonBody(request, RunCommandRequest), signal),
});
