'use client';
import type { AuditVerification } from '@slipway/contracts/audit';
import { Button, Notice } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { number } from '../../browser/format.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';

/** Looks at the whole chain, a part at a time, and says the first row that is not as it was written. */
export function VerifyChain() {
  const t = useTranslations();
  const { org } = useSession();
  const verify = useMutation({
    mutationFn: async (): Promise<AuditVerification> => {
      let after = 0;
      for (;;) {
        const part = await api.verifyAudit({ org: org.id, query: { after } });
        if (!part.ok || part.complete || part.checked === null) return part;
        after = part.checked.seq;
      }
    },
  });
  const { data } = verify;
  return (
    <div className="flex flex-col items-start gap-2">
      <Button busy={verify.isPending} onClick={() => verify.mutate()}>
        <ShieldCheck aria-hidden /> {t('adminAudit.verifyChain')}
      </Button>
      <div aria-live="polite">
        {data === undefined ? null : data.ok ? (
          <Notice tone="ok" title={t('adminAudit.theAuditLogIsIntact')}>
            {data.checked === null
              ? t('adminAudit.noEntriesYet2')
              : t('adminAudit.entriesLastHash', {
                  seq: number(data.checked.seq),
                  hash: data.checked.hash.slice(0, 16),
                })}
          </Notice>
        ) : (
          <Notice tone="bad" title={t('adminAudit.theAuditLogWasTampered')}>
            {data.fault?.detail}
          </Notice>
        )}
        <ErrorNotice error={verify.error} />
      </div>
    </div>
  );
}
