import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Conversation, QueuedMessage } from '@slipway/contracts/conversations';
import { createSampleRepository, until } from '@slipway/testing';
import { LLM_KEY, OpenStack } from './open-stack.ts';
import { finish, terminal } from './script-book.ts';
import type { Talk } from './talk.ts';

const SERVICES = ['app-server', 'worker', 'runtime-api', 'llm-gateway', 'agent-server', 'action-server'] as const;
const newTrace = (): string => randomBytes(16).toString('hex');
const traceparent = (trace: string): Readonly<Record<string, string>> => ({
  traceparent: `00-${trace}-${randomBytes(8).toString('hex')}-01`,
});

interface LogLine {
  readonly file: string;
  readonly text: string;
}

jest.setTimeout(300_000);

describe('logs', () => {
  let open: OpenStack;
  let talk: Talk;
  let receiver: Server;
  /** What an OTLP receiver was sent: protobuf. */
  const exported: Buffer[] = [];
  const trace = newTrace();

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      request.on('data', (part: Buffer) => exported.push(part));
      request.on('end', () => response.end());
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    open = await OpenStack.open({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}` },
    });
    await createSampleRepository(open.repositories, 'sample.git', { 'README.md': '# Sample\n' });
    const prompt = open.book.write('traced', [
      terminal('echo traced > note.txt; env; tr "\\0" "\\n" < /proc/$PPID/environ'),
      finish(),
    ]);
    const response = await open.create(
      { prompt, repository: `${open.git.url}/sample.git` },
      open.user,
      traceparent(trace),
    );
    talk = open.follow(((await response.json()) as Conversation).id);
    await talk.ended('finished');
  });
  afterAll(async () => {
    await open?.close();
    receiver?.close();
  });

  /** Every line of every log file: of the services, and of the sandboxes, which write to files of their own. */
  const logLines = (): LogLine[] =>
    readdirSync(open.stack.dataDirectory, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.log') && !file.startsWith('postgres'))
      .flatMap((file) =>
        readFileSync(path.join(open.stack.dataDirectory, file), 'utf8')
          .split('\n')
          // What comes after the last end of a line is being written.
          .slice(0, -1)
          .filter((text) => text !== '')
          .map((text) => ({ file, text })),
      );
  const servicesThatSay = (id: string): string[] =>
    [
      ...new Set(
        logLines()
          .filter(({ text }) => text.includes(id))
          .map(({ text }) => (JSON.parse(text) as { service: string }).service),
      ),
    ].sort();

  it('know a task by one trace id, from the click through every service to the tool call and the model', async () => {
    await until('each service has logged the trace', () => {
      expect(servicesThatSay(trace)).toEqual(expect.arrayContaining([...SERVICES]));
      return true;
    });
    expect(tracesOf('traced')).toEqual([trace, trace]);
  });

  it('know a later message by the trace id of its own click', async () => {
    const later = newTrace();
    const prompt = open.book.write('later', [terminal('echo later'), finish()]);
    const response = await open.user.fetch(`${talk.path}/messages`, {
      method: 'POST',
      json: { text: prompt },
      headers: traceparent(later),
    });
    await talk.ended('finished', (await response.json()) as QueuedMessage);
    await until('each service that it went through has logged the trace', () => {
      expect(servicesThatSay(later)).toEqual(
        expect.arrayContaining(SERVICES.filter((service) => service !== 'runtime-api')),
      );
      return true;
    });
    expect(tracesOf('later')).toEqual([later, later]);
    // Kept with each: the conversation's own is the newest one's.
    const kept = await open.query(
      'SELECT trace_id FROM app.inbox_message WHERE conversation_id = $1 ORDER BY position',
      [talk.id],
    );
    expect(kept).toEqual([{ trace_id: trace }, { trace_id: later }]);
  });

  it('leave as spans under the same id once the turn has ended: each call of the model and each tool, and no word of a prompt or a command', async () => {
    await until('the turn is sent', () => Buffer.concat(exported).includes(Buffer.from(trace, 'hex')), 60_000);
    const sent = Buffer.concat(exported).toString('latin1');
    for (const name of [
      'conversation turn',
      'chat scripted',
      'execute_tool terminal',
      'start WAITING_FOR_SANDBOX',
      talk.id,
    ])
      expect(sent).toContain(name);
    for (const word of ['Please do it', 'note.txt', open.orgId, open.user.me.id, LLM_KEY])
      expect(sent).not.toContain(word);
  });

  it('have one access line a request, with whose it was', async () => {
    await until('the line is written', () => {
      const line = logLines()
        .filter(({ file }) => file.endsWith('app-server.log'))
        .map(({ text }) => JSON.parse(text) as Record<string, unknown>)
        .find(({ message, route }) => message === 'request' && String(route).endsWith('/messages'));
      expect(line).toMatchObject({
        ...{ severity: 'INFO', timestamp: expect.any(String), user_id: open.user.me.id, conversation_id: talk.id },
        ...{ service: 'app-server', org_id: talk.orgId, method: 'POST', status: 202 },
      });
      return true;
    });
  });

  it('know a stop by the trace id of its click', async () => {
    const stop = newTrace();
    const message = await talk.send(open.book.write('stopped', [terminal('sleep 30')]));
    await talk.watcher.waitFor(
      'the command',
      ({ event }) => event.kind === 'ActionEvent' && event.tool_call.arguments.includes('sleep 30'),
    );
    await open.user.fetch(`${talk.path}/stop`, { method: 'POST', headers: traceparent(stop) });
    await talk.ended('paused', message);
    await until('app-server has logged it', () => servicesThatSay(stop).includes('app-server'));
  });

  it('hold one JSON object a line, each with message, severity, timestamp and service, and in a conversation its ids', () => {
    const lines = logLines();
    expect([...new Set(lines.map(({ text }) => (JSON.parse(text) as { service: string }).service))].sort()).toEqual(
      [...SERVICES, 'embedded-identity', 'sandbox-gateway'].sort(),
    );
    for (const { file, text } of lines) {
      expect({ file, line: JSON.parse(text) as unknown }).toEqual({
        file,
        line: expect.objectContaining({
          message: expect.any(String),
          severity: expect.stringMatching(/^(DEBUG|INFO|WARNING|ERROR|CRITICAL)$/),
          timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          service: expect.any(String),
        }),
      });
    }
    const traced = lines
      .map(({ text }) => JSON.parse(text) as Record<string, unknown>)
      .filter((line) => line['trace_id'] === trace);
    for (const service of ['app-server', 'worker', 'llm-gateway', 'agent-server'])
      expect(traced.filter((line) => line['service'] === service)).toContainEqual(
        expect.objectContaining({ conversation_id: talk.id }),
      );
    for (const service of ['app-server', 'worker', 'llm-gateway', 'runtime-api'])
      expect(traced.filter((line) => line['service'] === service)).toContainEqual(
        expect.objectContaining({ org_id: open.orgId }),
      );
    for (const service of ['app-server', 'llm-gateway'])
      expect(traced.filter((line) => line['service'] === service)).toContainEqual(
        expect.objectContaining({ user_id: open.user.me.id }),
      );
  });

  it('and events hold no secret: not one of the installation, of a session, of a sandbox, nor one that a user sent where it did not belong', async () => {
    const planted = `planted-${randomBytes(16).toString('hex')}`;
    await plant(planted);
    const secrets = await knownSecrets();
    expect(Object.values(secrets).filter((value) => value.length < 16)).toEqual([]);
    const places = [...logLines().map(({ file, text }) => ({ place: file, text })), ...(await storedEvents())];
    const found = Object.entries({ ...secrets, planted }).flatMap(([name, value]) =>
      places
        .filter(({ text }) => text.includes(value))
        .map(({ place, text }) => ({ name, place, text: text.slice(0, 400) })),
    );
    expect(found).toEqual([]);
    // Tokens whose value is unknown outside of the sandbox: of ingest, of activation, and the gateway's keys.
    expect(
      places
        .filter(({ text }) => /eyJ[\w-]{10,}\.[\w-]+\.|slp_llm_\w{26}_\w{32}/.test(text))
        .map(({ place, text }) => ({ place, text })),
    ).toEqual([]);
  });

  it('and the whole database hold no secret of the organization that the agent printed in five ways, and the person reads its name in its place', async () => {
    const value = `canary+${randomBytes(12).toString('base64')}/of "us"`;
    const kept = await open.user.fetch(`/api/v1/orgs/${open.orgId}/secrets`, {
      method: 'POST',
      json: { name: 'CANARY', value },
    });
    expect(kept.status).toBe(201);
    const ways = [
      'echo "$CANARY"; env; cat /proc/self/environ',
      'printf %s "$CANARY" | base64 -w0; echo "u:$CANARY" | base64',
      `node -p 'encodeURIComponent(process.env.CANARY) + JSON.stringify(process.env)'`,
      'for i in 1 2 3; do printf %s "$(printf %s "$CANARY" | head -c 8)"; printf "%s\\n" "$(printf %s "$CANARY" | tail -c +9)"; done',
      'echo "$CANARY" > canary.txt; cat "$CANARY"; node -e "throw new Error(process.env.CANARY)"',
    ];
    const leaky = await open.talk('leaky', [...ways.map((way) => terminal(way)), finish(`It is ${value}.`)]);
    await leaky.ended('finished');
    for (const observation of leaky.of('ObservationEvent').slice(0, ways.length))
      expect(JSON.stringify(observation)).toContain('<secret:CANARY>');
    const bytes = Buffer.from(value);
    const forms = [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      bytes.toString('base64').slice(0, -4),
      bytes.toString('hex'),
    ];
    const tables = await open.query<{ name: string; rows: string }>(
      `SELECT table_name AS name, query_to_xml(format('SELECT * FROM %I.%I', table_schema, table_name), true, false, '')::text AS rows
       FROM information_schema.tables WHERE table_schema IN ('app', 'runtime', 'gateway') AND table_type = 'BASE TABLE'`,
    );
    expect(tables.find(({ name }) => name === 'secret')?.rows).toContain('CANARY');
    const changes = await (await open.user.fetch(`${leaky.path}/diff`)).text();
    expect(changes).toContain('+<secret:CANARY>');
    const places = [
      ...logLines().map(({ file, text }) => ({ place: file, text })),
      ...tables.map(({ name, rows }) => ({ place: name, text: rows })),
      { place: 'diff', text: changes },
    ];
    const inXml = (form: string): string =>
      form.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    expect(
      places
        .filter(({ text }) => forms.some((form) => text.includes(form) || text.includes(inXml(form))))
        .map(({ place }) => place),
    ).toEqual([]);
  });

  const tracesOf = (harness: string): (string | undefined)[] =>
    open.book.requestsOf(harness).map(({ headers }) => String(headers['traceparent']).split('-')[1]);

  /** Sends a secret to every service in the ways in which callers send theirs, so that it is refused. */
  async function plant(secret: string): Promise<void> {
    const headers = {
      authorization: `Bearer ${secret}`,
      cookie: `keycloak_auth=${secret}`,
      'x-api-key': secret,
      'x-session-api-key': secret,
    };
    const sandbox =
      (
        await open.query<{ url: string }>(
          'SELECT sandbox_url AS url FROM app.conversation WHERE sandbox_url IS NOT NULL',
        )
      )[0]?.url ?? '';
    const refused = await Promise.all(
      [
        `${open.url}/api/v1/me`,
        `${open.url}/oauth/keycloak/callback?code=${secret}&state=${secret}`,
        `${open.url}/ingest/v1/conversations/${talk.id}/events`,
        `${open.addressOf('runtime-api')}/list`,
        `${open.addressOf('llm-gateway')}/v1/models`,
        `${open.addressOf('embedded-identity')}/realms/slipway/protocol/openid-connect/token?client_secret=${secret}`,
        `${sandbox}/api/conversations/${talk.id}`,
        `${sandbox}/sockets/events/${talk.id}?session_api_key=${secret}`,
      ].flatMap((url) =>
        (['GET', 'POST'] as const).map((method) => fetch(url, { method, headers, redirect: 'manual' })),
      ),
    );
    expect(refused.filter(({ status }) => status < 300).map(({ url, status }) => ({ url, status }))).toEqual([]);
    const headersOfJson = { 'content-type': 'application/json' };
    const broken = JSON.stringify({ api_key: secret, environment: { TOKEN: secret } }).slice(0, -1);
    for (const url of [
      `${open.url}/api/conversations`,
      `${open.addressOf('runtime-api')}/start`,
      `${open.addressOf('llm-gateway')}/v1/chat/completions`,
    ])
      await fetch(url, { method: 'POST', headers: headersOfJson, body: broken });
  }

  async function knownSecrets(): Promise<Record<string, string>> {
    const { database, ...single } = open.secrets;
    const runtime = await open.sandboxOf(talk);
    const records = readdirSync(path.join(open.stack.dataDirectory, 'sandboxes/sandboxes')).map(
      (name) =>
        JSON.parse(
          readFileSync(path.join(open.stack.dataDirectory, 'sandboxes/sandboxes', name, 'sandbox.json'), 'utf8'),
        ) as { name: string; token: string },
    );
    return {
      ...single,
      ...Object.fromEntries(Object.entries(database).map(([schema, password]) => [`database ${schema}`, password])),
      ...Object.fromEntries(records.map(({ name, token }) => [`tool token of ${name}`, token])),
      ...Object.fromEntries(
        open.user.cookie.split('; ').map((pair, index) => [`cookie ${index}`, pair.slice(pair.indexOf('=') + 1)]),
      ),
      'session key of the sandbox': runtime.session_api_key,
      "the provider's key": LLM_KEY,
    };
  }

  async function storedEvents(): Promise<{ place: string; text: string }[]> {
    const events = await open.query<{ place: string; text: string }>(
      "SELECT 'event ' || seq AS place, event::text AS text FROM app.event",
    );
    const blobs = await open.query<{ place: string; text: string }>(
      "SELECT 'blob ' || sha256 AS place, encode(content, 'escape') AS text FROM app.blob",
    );
    expect(events.some(({ text }) => text.includes('ACTION_SERVER_TOKEN'))).toBe(true);
    return [...events, ...blobs];
  }
});
