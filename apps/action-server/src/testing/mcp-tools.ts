import { existsSync, writeFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

/** A well-behaved server, made with the protocol's own library. `told` is what its tool `told` answers with. */
export function honestServer(describe: () => string): McpServer {
  const server = new McpServer({ name: 'honest', version: '1.0.0' });
  server.registerTool(
    'echo',
    { description: 'Says it again.', inputSchema: { text: z.string() } },
    async ({ text: said }) => text(said),
  );
  server.registerTool(
    'add',
    { description: 'Adds.', inputSchema: { a: z.number(), b: z.number() } },
    async ({ a, b }) => ({
      ...text(String(a + b)),
      structuredContent: { sum: a + b },
    }),
  );
  server.registerTool('told', { description: 'What it was started with.' }, async () => text(describe()));
  server.registerTool(
    'describe',
    {
      description: 'Takes an argument that is called kind.',
      inputSchema: { kind: z.string(), of: z.string().nullable() },
    },
    async (given) => text(JSON.stringify(given)),
  );
  server.registerTool('refuse', { description: 'Always fails.' }, async () => ({
    ...text('There is no such ticket.'),
    isError: true,
  }));
  server.registerTool('picture', { description: 'Shows a picture, one that is none, and a document.' }, async () => ({
    content: [
      { type: 'image' as const, data: PIXEL, mimeType: 'image/png' },
      { type: 'image' as const, data: 'bm90IGEgcGljdHVyZQ==', mimeType: 'image/png' },
      { type: 'resource' as const, resource: { uri: 'file:///notes.md', mimeType: 'text/markdown', text: '# Notes' } },
    ],
  }));
  server.registerTool(
    'wait',
    { description: 'Works until it is cancelled, and says so in a file.', inputSchema: { file: z.string() } },
    async ({ file }, context) => {
      writeFileSync(file, 'waiting');
      await new Promise((resolve) => context.mcpReq.signal.addEventListener('abort', resolve, { once: true }));
      writeFileSync(file, 'cancelled');
      return text('cancelled');
    },
  );
  server.registerTool(
    'steps',
    { description: 'Reports its progress until a file exists.', inputSchema: { file: z.string(), told: z.string() } },
    async ({ file, told: message }, { mcpReq: { _meta, notify } }) => {
      const progressToken = _meta?.progressToken;
      for (let progress = 1; !existsSync(file); progress += 1) {
        if (progressToken !== undefined)
          await notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 1_000, message },
          });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return text('there');
    },
  );
  server.registerTool('die', { description: 'Ends the server.' }, async () => process.exit(7));
  server.registerTool('grow', { description: 'Gets another tool.' }, async () => {
    server.registerTool('grown', { description: 'Was not there before.' }, async () => text('here'));
    return text('grown');
  });
  return server;
}
