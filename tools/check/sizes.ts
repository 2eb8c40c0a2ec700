import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Longest source file. Lines: beyond it a file is not read whole. */
const MAX_LINES = 450;

/** Longest line of a comment, as the formatter has it for code. Columns. */
const MAX_COLUMNS = 120;

/** To be split: they grew over the limit when lines were cut from 160 columns to 120. */
const TO_SPLIT: ReadonlySet<string> = new Set([
  'tests/stack/bad-input.test.ts',
  'tests/stack/tenancy.test.ts',
  'tests/publish/publish-contract.ts',
  'tests/openhands-sdk/sdk.test.ts',
  'tests/four-eyes/world.ts',
  'tests/e2e/admin.test.ts',
  'tests/e2e/integrations.test.ts',
  'libs/integrations/src/testing/scripted-github.ts',
  'libs/integrations/src/providers/triggers.test.ts',
  'libs/sandbox/src/adapters/process/process-backend.ts',
  'libs/contracts/src/errors/error-codes.ts',
  'apps/worker/src/testing/fake-peers.ts',
  'apps/worker/src/integrations/answers/integration-answer.ts',
  'apps/web/src/messages/en/admin-integrations.ts',
  'apps/runtime-api/src/testing/pool-model-world.ts',
  'apps/llm-gateway/src/budgets/bill.test.ts',
  'apps/app-server/src/spending/outcomes/outcomes.http.test.ts',
  'apps/app-server/src/integrations/linking/linking.http.test.ts',
  'apps/app-server/src/conversations/confirmation/confirmation.http.test.ts',
  'apps/agent-server/src/agent-server.test.ts',
  'apps/agent-server/src/sandbox/action-server-client.ts',
  'apps/agent-server/src/conversations/conversation.ts',
  'apps/action-server/src/git/turns-and-commits.test.ts',
]);

/** Source files that are too long, and comments that are too wide, as sentences. */
export function tooLong(root: string): string[] {
  const files = globSync('{apps,libs,tools,bench,deploy,tests}/**/*.{ts,tsx,mjs}', {
    cwd: root,
    exclude: ['**/node_modules/**', '**/dist/**', '**/bundle/**', '**/.next/**', '**/generated/**', '**/generated.ts'],
  });
  return files.flatMap((file) => {
    const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
    return [...tooManyLines(file, lines.length - 1), ...tooWide(file, lines)];
  });
}

function tooManyLines(file: string, count: number): string[] {
  // An index lists names, one a line: it is not read, and split it would say where a name is instead of that it is.
  if (count <= MAX_LINES || /^libs\/[^/]+\/src\/index\.ts$/.test(file) || TO_SPLIT.has(file)) return [];
  return [`${file} has ${count} lines; the limit is ${MAX_LINES}: split it along what it is about`];
}

/** The formatter leaves comments as they are. A word that has no space, such as an address, may be as long as it is. */
function tooWide(file: string, lines: readonly string[]): string[] {
  return lines.flatMap((line, index) =>
    line.length > MAX_COLUMNS && /^\s*(\/\/|\/?\*\*?) .* /.test(line) && !/biome-ignore|slipway:/.test(line)
      ? [`${file}:${index + 1}: a comment of ${line.length} columns; the limit is ${MAX_COLUMNS}`]
      : [],
  );
}
