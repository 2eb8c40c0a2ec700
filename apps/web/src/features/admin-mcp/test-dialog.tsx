'use client';
import type { McpServer, McpServerTest } from '@slipway/contracts';
import { Button, Dialog, Notice, ScrollBox, Spinner } from '@slipway/ui';
import type { UseMutationResult } from '@tanstack/react-query';
import { number } from '../../browser/format.ts';
import { ErrorNotice } from '../form/form-failure.tsx';

/** What comes of trying a server, from the first moment on. Closing it ends nothing: the sandbox of the test ends by itself. */
export function TestDialog({ server, test, onClose }: { server: McpServer; test: UseMutationResult<McpServerTest, Error, void>; onClose: () => void }) {
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title={`Test of ${server.name}`}>
      <div className="flex flex-col gap-4 p-4">
        <div aria-live="polite" className="flex min-h-16 flex-col gap-3 text-sm">
          {test.isPending ? (
            <p className="flex items-start gap-2">
              <Spinner className="mt-0.5" />
              <span>
                {test.isPaused
                  ? 'You are offline. It begins when the connection is back.'
                  : server.transport === 'stdio'
                    ? 'It is being started in a sandbox of its own. A program that has to be installed first may take a minute.'
                    : 'It is being reached from a sandbox of its own, as agents reach it.'}
              </span>
            </p>
          ) : null}
          {test.isPending || test.data === undefined ? null : <Outcome of={test.data} />}
          {test.isPending ? null : <ErrorNotice error={test.error} />}
        </div>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          <Button tone="primary" busy={test.isPending} onClick={() => test.mutate()}>
            Test again
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Outcome({ of: result }: { of: McpServerTest }) {
  if (result.failure !== null)
    return (
      <Notice tone="bad" title={result.failure.kind === 'settings' ? 'It was not tried' : 'It does not work yet'}>
        <p>{result.failure.detail}</p>
      </Notice>
    );
  const count = result.tools.length + result.moreTools;
  return (
    <>
      <Notice tone="ok" title={`It answered in ${number(Math.max(0.1, Math.round(result.elapsedMs / 100) / 10))} s`}>
        <p>{count === 0 ? 'It offers no tools: agents gain nothing by it.' : `It offers ${number(count)} ${count === 1 ? 'tool' : 'tools'}.`}</p>
      </Notice>
      {count === 0 ? null : (
        <ScrollBox label="Its tools" className="max-h-64 overflow-auto rounded-md border border-line">
          <ul className="divide-y divide-line">
            {result.tools.map((tool, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a server may give two tools one name, and the list never changes
              <li key={index} className="px-3 py-1.5 font-mono text-sm break-all">
                {tool}
              </li>
            ))}
            {result.moreTools === 0 ? null : <li className="px-3 py-1.5 text-ink-muted">and {number(result.moreTools)} more</li>}
          </ul>
        </ScrollBox>
      )}
    </>
  );
}
