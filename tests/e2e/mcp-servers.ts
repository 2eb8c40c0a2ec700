import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort, until } from '@slipway/testing';
import { expect } from 'expect';
import type { Locator, Page } from 'playwright-core';
import { expectClean } from './browser.ts';

/** What the steps of limits-and-plans.test.ts have. */
interface Desk {
  readonly owner: Page;
  /** Opens a page of the organization and waits for its heading. */
  readonly open: (rest: string, name: string) => Promise<void>;
}

const TOKEN = 'token-of-the-tracker-4711';
/** A machine that is busy with other tests. Milliseconds. */
const SLOW = { timeout: 60_000 };

/** A server of the protocol at an address: it wants a token, and names a tool after it, to see who keeps it. */
async function startTracker(): Promise<Server> {
  const server = createServer((request, response) => {
    const answer = (status: number, body?: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.method !== 'POST') return answer(405);
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return answer(401, {});
    let text = '';
    request.on('data', (part) => (text += part));
    request.on('end', () => {
      const { id, method, params } = JSON.parse(text) as {
        id?: number;
        method: string;
        params?: { protocolVersion?: string };
      };
      if (id === undefined) return answer(202);
      const results: Record<string, object> = {
        initialize: {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'tracker', version: '1' },
        },
        'tools/list': {
          tools: ['find_issue', `leak_${TOKEN}`].map((name) => ({ name, inputSchema: { type: 'object' } })),
        },
      };
      answer(200, {
        jsonrpc: '2.0',
        id,
        ...(results[method] === undefined
          ? { error: { code: -32601, message: 'unknown' } }
          : { result: results[method] }),
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** A program of the protocol, as one line of Node: a sandbox has that. */
const PROGRAM = `require('readline').createInterface({input:process.stdin}).on('line',(line)=>{const {id,method,params}=JSON.parse(line);if(id===undefined)return;const result=method==='initialize'?{protocolVersion:params.protocolVersion,capabilities:{tools:{}},serverInfo:{name:'p',version:'1'}}:{tools:[{name:'of_'+(process.env.MODE??'none'),inputSchema:{type:'object'}}]};process.stdout.write(JSON.stringify({jsonrpc:'2.0',id,result})+'\\n')})`;

/**
 * An owner pastes a file, mends what was wrong with it, adds one by hand, tries each in a real sandbox, and takes them
 * away.
 */
export async function connectServers({ owner, open }: Desk): Promise<void> {
  const tracker = await startTracker();
  const url = `http://127.0.0.1:${(tracker.address() as AddressInfo).port}/mcp`;
  const dialog = owner.getByRole('dialog');
  const row = (text: string): Locator => owner.getByRole('row').filter({ hasText: text });
  try {
    await open('admin/mcp-servers', 'MCP servers');
    await owner.getByText('No MCP servers').waitFor();
    await expectClean(owner, 'no MCP servers');

    await owner.getByRole('button', { name: 'Paste configuration' }).press('Enter');
    const file = dialog.getByLabel('The file, or the part that lists the servers');
    await file.fill('{ "mcpServers": {\n "a": }');
    await dialog.getByText('see line 2').waitFor();
    await file.fill(
      JSON.stringify({
        mcpServers: {
          tracker: { type: 'http', url, headers: { Authorization: `Bearer ${TOKEN}` } },
          helper: { command: process.execPath, args: ['-e', PROGRAM], env: { MODE: 'paste' } },
          strange: { type: 'websocket', url: 'wss://a.example' },
        },
      }),
    );
    await dialog.getByText('type must be stdio, http or sse.').waitFor();
    await dialog.getByText('Stored as a secret: TRACKER_AUTHORIZATION.').waitFor();
    await expectClean(owner, 'a pasted file', 'everyTheme');
    await dialog.getByRole('button', { name: 'Add 2 servers' }).press('Enter');
    await until('both are added', async () => (await dialog.getByText('Added', { exact: true }).count()) === 2);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await row('tracker').getByText('On').waitFor();

    // A program runs in the sandbox of the test, and what it lists is shown.
    await owner.getByRole('button', { name: 'Test helper' }).press('Enter');
    await dialog.getByText('of_paste').waitFor(SLOW);
    await expectClean(owner, 'a server that answered', 'everyTheme');
    await owner.keyboard.press('Escape');
    await until('focus is back', () =>
      owner.getByRole('button', { name: 'Test helper' }).evaluate((element) => element === document.activeElement),
    );
    await owner.getByRole('button', { name: 'Test tracker' }).click();
    await dialog.getByText('The server offers 2 tools.').waitFor(SLOW);
    await dialog.getByText('leak_<secret:TRACKER_AUTHORIZATION>').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();

    // By hand, wrong first: a row without a value, then an address without a server.
    await owner.getByRole('button', { name: 'New server' }).click();
    await dialog.getByLabel('Name', { exact: true }).first().fill('nobody');
    await dialog.getByLabel('Address').fill(`http://127.0.0.1:${await freePort()}/mcp`);
    await dialog.getByRole('button', { name: 'Add a header' }).click();
    const header = dialog.getByRole('group', { name: 'Header 1' });
    await header.getByLabel('Name').fill('Authorization');
    await header.getByLabel('Value type').selectOption({ label: 'New secret' });
    expect([
      await header.getByLabel('Prefix').inputValue(),
      await header.getByLabel('Secret name').inputValue(),
    ]).toEqual(['Bearer ', 'NOBODY_AUTHORIZATION']);
    await dialog.getByRole('button', { name: 'Add server' }).click();
    await dialog.getByText('enter the value of the secret').waitFor();
    await expectClean(owner, 'a server with an unfinished header', 'everyTheme');
    await header.getByLabel('Value', { exact: true }).fill('a-value-of-nobody');
    await dialog.getByRole('button', { name: 'Add server' }).click();
    await dialog.waitFor({ state: 'detached' });
    await owner.getByRole('button', { name: 'Test nobody' }).click();
    await dialog.getByText(/nothing listens there/).waitFor(SLOW);
    await expectClean(owner, 'a server that does not answer', 'everyTheme');
    await dialog.getByRole('button', { name: 'Close' }).last().click();

    await owner.getByRole('button', { name: 'Actions of nobody' }).click();
    await owner.getByRole('menuitem', { name: 'Disable' }).click();
    await row('nobody').getByText('Off').waitFor();
    await owner.getByRole('button', { name: 'Actions of tracker' }).click();
    await owner.getByRole('menuitem', { name: 'Edit…' }).click();
    expect(await dialog.getByRole('group', { name: 'Header 1' }).getByLabel('Secret').inputValue()).toBe(
      'TRACKER_AUTHORIZATION',
    );
    expect(await dialog.innerHTML()).not.toContain(TOKEN);
    await dialog.getByLabel('Name', { exact: true }).first().fill('issues');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row('issues').waitFor();
    await expectClean(owner, 'MCP servers', 'everyTheme');
    await owner.getByRole('button', { name: 'Actions of nobody' }).click();
    await owner.getByRole('menuitem', { name: 'Delete…' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await row('nobody').waitFor({ state: 'detached' });
    await owner.reload();
    await row('issues').waitFor();
    expect(await owner.content()).not.toContain(TOKEN);

    for (const name of ['issues', 'helper']) {
      await owner.getByRole('button', { name: `Actions of ${name}` }).click();
      await owner.getByRole('menuitem', { name: 'Delete…' }).click();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await row(name).waitFor({ state: 'detached' });
    }
    await open('admin/audit', 'Audit');
    await owner.getByText('MCP server tested').first().waitFor();
    expect(await owner.content()).not.toContain(TOKEN);
  } finally {
    tracker.closeAllConnections();
    tracker.close();
  }
}
