'use client';
import type { McpServer, McpServerTest } from '@slipway/contracts/secrets';
import { Button, Dialog, Notice, ScrollBox, Spinner } from '@slipway/ui';
import type { UseMutationResult } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { number } from '../../browser/format.ts';
import { ErrorNotice } from '../form/form-failure.tsx';

/**
 * What comes of trying a server, from the first moment on. Closing it ends nothing: the sandbox of the test ends by
 * itself.
 */
export function TestDialog({
  server,
  test,
  onClose,
}: {
  server: McpServer;
  test: UseMutationResult<McpServerTest, Error, void>;
  onClose: () => void;
}) {
  const t = useTranslations();
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title={t('adminMcp.testOf', { name: server.name })}>
      <div className="flex flex-col gap-4 p-4">
        <div aria-live="polite" className="flex min-h-16 flex-col gap-3 text-sm">
          {test.isPending ? (
            <p className="flex items-start gap-2">
              <Spinner className="mt-0.5" />
              <span>
                {test.isPaused
                  ? t('adminMcp.youAreOfflineTheTest')
                  : server.transport === 'stdio'
                    ? t('adminMcp.startingInASandboxOf')
                    : t('adminMcp.connectingFromASandboxAs')}
              </span>
            </p>
          ) : null}
          {test.isPending || test.data === undefined ? null : <Outcome of={test.data} />}
          {test.isPending ? null : <ErrorNotice error={test.error} />}
        </div>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('common.close')}</Button>
          <Button tone="primary" busy={test.isPending} onClick={() => test.mutate()}>
            {t('adminMcp.testAgain')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Outcome({ of: result }: { of: McpServerTest }) {
  const t = useTranslations();
  if (result.failure !== null)
    return (
      <Notice
        tone="bad"
        title={result.failure.kind === 'settings' ? t('adminMcp.theTestDidNotRun') : t('adminMcp.theServerDoesNotWork')}
      >
        <p>{result.failure.detail}</p>
      </Notice>
    );
  const count = result.tools.length + result.moreTools;
  return (
    <>
      <Notice
        tone="ok"
        title={t('adminMcp.answeredInS', { seconds: number(Math.max(0.1, Math.round(result.elapsedMs / 100) / 10)) })}
      >
        <p>{count === 0 ? t('adminMcp.theServerOffersNoTools') : t('adminMcp.itOffers', { count })}</p>
      </Notice>
      {count === 0 ? null : (
        <ScrollBox label={t('adminMcp.tools')} className="max-h-64 overflow-auto rounded-md border border-line">
          <ul className="divide-y divide-line">
            {result.tools.map((tool, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a server may give two tools one name, and the list never changes
              <li key={index} className="px-3 py-1.5 font-mono text-sm break-all">
                {tool}
              </li>
            ))}
            {result.moreTools === 0 ? null : (
              <li className="px-3 py-1.5 text-ink-muted">
                {t('adminMcp.andMore', { moreTools: number(result.moreTools) })}
              </li>
            )}
          </ul>
        </ScrollBox>
      )}
    </>
  );
}
