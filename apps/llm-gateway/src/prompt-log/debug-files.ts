import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { PromptStore } from './prompt-log.js';

/**
 * Every call of every organization as a file of plain text in a folder of its day, for one developer on their own
 * machine; secrets are masked before. Nothing is deleted. The newest calls come last in a listing.
 */
export function debugFiles(directory: string): PromptStore {
  return {
    policies: async () => ({ has: () => true }),
    insert: async (orgId, { at, conversationId, requestId, model, outcome, asked, answered }) => {
      const folder = path.join(directory, at.slice(0, 10));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const name = [at.slice(11).replaceAll(':', '-'), conversationId, requestId]
        .join('_')
        .replace(/[^A-Za-z0-9_.-]/g, '');
      const head = { at, organization: orgId, conversation: conversationId, request: requestId, model, outcome };
      const lines = Object.entries(head).map(([key, value]) => `${key}: ${value}`);
      const content = `${lines.join('\n')}\n\n=== asked ===\n${readable(asked)}\n\n=== answered ===\n${readable(answered)}\n`;
      await writeFile(path.join(folder, `${name}.txt`), content, { mode: 0o600, flag: 'wx' });
    },
    sweep: async () => ({ more: false }),
  };
}

/** JSON over several lines, with the line ends of its texts; a stream or a part of a body as it came. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2).replaceAll('\\n', '\n');
  } catch {
    return body;
  }
}
