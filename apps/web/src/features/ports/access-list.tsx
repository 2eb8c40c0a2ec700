'use client';
import { type OpenSandboxAccess, SANDBOX_PORTS } from '@slipway/contracts/sandboxes';
import { AfterDelay, Button, IconButton, Skeleton } from '@slipway/ui';
import type { UseQueryResult } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useRef } from 'react';
import { failureOf } from '../../api/failure.ts';
import { asAgo, asAhead } from '../../browser/ago.tsx';
import { useSession } from '../session/me.ts';
import { type OpenPort, openPorts } from './open-access.ts';
import { type PortAddress, portName } from './port-address.ts';
import { useEndAccess } from './use-access.ts';

/** Who can reach which port now, and the end of that. `reopen` is `null` while nothing can be opened. */
export function AccessList({
  list,
  reopen,
}: {
  list: UseQueryResult<OpenSandboxAccess[]>;
  reopen: ((address: PortAddress) => void) | null;
}) {
  const t = useTranslations();
  const heading = useRef<HTMLHeadingElement>(null);
  // The button that was pressed goes with its line.
  const end = useEndAccess(() => heading.current?.focus());
  const { me } = useSession();
  const ports = openPorts(list.data ?? []);
  const ending = end.isPending ? end.variables : null;
  return (
    <section aria-label={t('ports.openPorts')} className="flex flex-col gap-2">
      <div className="flex min-h-8 items-center justify-between gap-3">
        <h2 ref={heading} tabIndex={-1} className="text-sm font-semibold outline-none">
          {t('ports.openNow')}
        </h2>
        {ports.length > 1 ? (
          <Button size="small" tone="danger" busy={ending === 'all'} onClick={() => end.mutate('all')}>
            {t('ports.revokeAll')}
          </Button>
        ) : null}
      </div>
      {list.data !== undefined && list.error ? (
        <p className="text-xs text-warn">
          {t('ports.thisListMayBeOutdated', { title: failureOf(list.error).title.toLowerCase() })}
        </p>
      ) : null}
      {list.data === undefined ? (
        <AfterDelay>
          <Skeleton className="h-12" />
        </AfterDelay>
      ) : ports.length === 0 ? (
        <p className="text-sm text-ink-muted">{t('ports.noPortsAreOpen')}</p>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line">
          {ports.map((port) => (
            <PortLine
              key={`${port.port} ${port.user.id}`}
              open={port}
              mine={port.user.id === me.id}
              reopen={port.user.id === me.id ? reopen : undefined}
              ending={ending === 'all' || ending?.[0] === port.ids[0]}
              end={() => end.mutate(port.ids)}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

function PortLine(props: {
  open: OpenPort;
  mine: boolean;
  reopen: ((address: PortAddress) => void) | null | undefined;
  ending: boolean;
  end: () => void;
}) {
  const t = useTranslations();
  const { open, mine, reopen, ending, end } = props;
  const { port, user, openedAt, endsAt } = open;
  // What the panels of this page hold, too: there is no page at it to open.
  const panels = port === SANDBOX_PORTS['agent-server'];
  const name = panels ? t('ports.terminalFilesAndBrowserOf') : portName(port);
  return (
    <li className="flex items-center gap-2 py-2 pr-2 pl-3">
      <div className="min-w-0 flex-1">
        <p className="truncate text-sm font-medium tabular-nums">
          {t('ports.port', { port })}{' '}
          {name === null ? null : <span className="font-normal text-ink-muted">{name}</span>}
        </p>
        <p className="text-xs text-ink-muted">
          {t.rich('ports.openedExpires', {
            label: mine ? t('common.you') : user.label,
            openedAt,
            ago: asAgo,
            endsAt,
            ahead: asAhead,
          })}
        </p>
      </div>
      {reopen === undefined || panels ? null : (
        <IconButton
          label={t('ports.openPortAgain', { port })}
          disabled={reopen === null}
          onClick={() => reopen?.({ port, path: '/' })}
        >
          <ExternalLink aria-hidden />
        </IconButton>
      )}
      <Button
        size="small"
        tone="danger"
        busy={ending}
        onClick={end}
        aria-label={mine ? t('ports.endYourAccess', { port }) : t('ports.endAccessOf', { label: user.label, port })}
      >
        {t('ports.revoke')}
      </Button>
    </li>
  );
}
