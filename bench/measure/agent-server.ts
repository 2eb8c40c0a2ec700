import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@slipway/testing';
import { type RunningProcess, startProcess } from './child-process.ts';

const BUNDLE = fileURLToPath(new URL('../../apps/agent-server/bundle/agent-server.cjs', import.meta.url));
const SESSION_KEY = 'bench-session-key-of-at-least-32-characters';

export interface BenchAgentServer {
  readonly process: RunningProcess;
  readonly url: string;
  readonly sessionKey: string;
  /** Claims the sandbox. */
  activate(): Promise<void>;
  /** A plain conversation, without an app behind it. @returns its id. */
  createConversation(): Promise<string>;
  stop(): Promise<void>;
}

/** What agent-server and its tool process know each other by. */
export const ACTION_SERVER_TOKEN = 'bench-token-of-at-least-32-characters';

/**
 * agent-server as a sandbox runs it: the bundle, on a free port, blank. Answers as soon as it listens. @param
 * actionServerUrl where its tool process is; by default nowhere.
 */
export async function startAgentServer(pollMs = 1, actionServerUrl = 'http://127.0.0.1:9'): Promise<BenchAgentServer> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-agent-'));
  const keys = generateKeyPairSync('ed25519');
  const running = startProcess(process.execPath, [BUNDLE], {
    SLOT_ID: 'slot',
    POD_UID: 'pod',
    STATE_DIR: folder,
    WORKSPACE_DIR: folder,
    ACTIVATION_PUBLIC_KEY: keys.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    ACTION_SERVER_URL: actionServerUrl,
    ACTION_SERVER_TOKEN,
    LOG_LEVEL: 'warn',
  });
  const listening = path.join(folder, 'listening.json');
  while (!existsSync(listening)) {
    if (running.child.exitCode !== null) throw new Error(`agent-server ended:\n${running.output()}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  const { port } = JSON.parse(readFileSync(listening, 'utf8')) as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return {
    process: running,
    url,
    sessionKey: SESSION_KEY,
    activate: async () => {
      const body = JSON.stringify({ session_api_keys: [SESSION_KEY], env: {} });
      const claims = {
        aud: 'slipway-activation',
        iat: Math.floor(Date.now() / 1000),
        slot_id: 'slot',
        pod_uid: 'pod',
        claim_id: 'claim',
        epoch: 1,
        org: 'org',
        body_sha256: createHash('sha256').update(body).digest('base64url'),
      };
      const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      const head = `${encode({ alg: 'EdDSA' })}.${encode(claims)}`;
      const token = `${head}.${sign(null, Buffer.from(head), keys.privateKey).toString('base64url')}`;
      const answer = await fetch(`${url}/api/init`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body,
      });
      if (answer.status !== 200) throw new Error(`activation: ${answer.status} ${await answer.text()}`);
    },
    createConversation: async () => {
      const body = JSON.stringify({
        agent: { llm: { model: 'none', base_url: 'http://127.0.0.1:9' } },
        workspace: { working_dir: folder },
      });
      const answer = await until('a conversation', () =>
        fetch(`${url}/api/conversations`, { method: 'POST', headers: { 'x-session-api-key': SESSION_KEY }, body }),
      );
      return ((await answer.json()) as { id: string }).id;
    },
    stop: async () => {
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
