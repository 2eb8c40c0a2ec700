'use client';
import type { EgressRequest } from '@slipway/contracts/sandboxes';
import { useTranslations } from 'next-intl';
import { hostText } from './egress-words.ts';

type Host = Pick<EgressRequest, 'host' | 'port'>;

/** What the sandbox asks for. */
export function AskedHost({ request }: { request: Host }) {
  const t = useTranslations();
  return (
    <p className="text-sm text-ink [overflow-wrap:anywhere]">
      {t.rich('egress.theSandboxAsksFor', { host: () => <HostName request={request} /> })}
    </p>
  );
}

/** The host whole, in plain text, in one direction of writing. */
export function HostName({ request }: { request: Host }) {
  const host = hostText(request);
  return (
    <bdi dir="ltr" className="[overflow-wrap:anywhere]">
      <strong className="font-mono font-semibold">{host.slice(0, host.lastIndexOf(':'))}</strong>
      <span className="font-mono text-ink-muted">:{request.port}</span>
    </bdi>
  );
}
