'use client';
import type { EgressRequest } from '@slipway/contracts/sandboxes';
import { useTranslations } from 'next-intl';
import { hostText } from './egress-words.ts';

/** What the sandbox asks for: the host whole, in plain text, in one direction of writing. */
export function AskedHost({ request }: { request: Pick<EgressRequest, 'host' | 'port'> }) {
  const t = useTranslations();
  const host = hostText(request);
  return (
    <p className="text-sm text-ink [overflow-wrap:anywhere]">
      {t.rich('egress.theSandboxAsksFor', {
        host: () => (
          <bdi dir="ltr">
            <strong className="font-mono font-semibold">{host.slice(0, host.lastIndexOf(':'))}</strong>
            <span className="font-mono text-ink-muted">:{request.port}</span>
          </bdi>
        ),
      })}
    </p>
  );
}
