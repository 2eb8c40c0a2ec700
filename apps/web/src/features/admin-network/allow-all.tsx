'use client';
import { MAX_RULES_TOGETHER, type ObservedHost } from '@slipway/contracts/sandboxes';
import { Button, ConfirmDialog } from '@slipway/ui';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { patternOf } from './observed-pattern.ts';

/** Makes a rule of each observed host, all in one request: all are made, or none. */
export function AllowAll({ hosts }: { hosts: readonly ObservedHost[] }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const shown = hosts.slice(0, MAX_RULES_TOGETHER);
  const patterns = new Set(shown.map(patternOf));
  // A rule without a port is for port 80 too.
  const ruled = shown.filter((host) => !(host.port === 80 && patterns.has(patternOf({ ...host, port: 443 }))));
  const write = useMutation({
    mutationFn: () =>
      api.createEgressRules({
        org: org.id,
        body: {
          rules: ruled.map((host) => ({
            host: patternOf(host),
            action: 'allow',
            reason: t('adminNetwork.observedReason', { count: host.conversations }),
          })),
        },
      }),
    onSuccess: ({ data }) => {
      toast(t('adminNetwork.rulesAdded', { count: data.length }));
      setAsking(false);
      void queries.invalidateQueries({ queryKey: ['egress-rules', org.id] });
      return queries.invalidateQueries({ queryKey: ['egress-observed-hosts', org.id] });
    },
  });
  const open = (next: boolean) => {
    setAsking(next);
    write.reset();
  };
  return (
    <div>
      <Button onClick={() => open(true)}>
        {hosts.length > MAX_RULES_TOGETHER
          ? t('adminNetwork.allowTheFirst', { count: MAX_RULES_TOGETHER })
          : t('adminNetwork.allowAllShown')}
      </Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={open}
        title={t('adminNetwork.allowHosts', { count: ruled.length })}
        confirmLabel={t('adminNetwork.addRules', { count: ruled.length })}
        busy={write.isPending}
        onConfirm={() => write.mutate()}
      >
        <p>{t('adminNetwork.allowAllMeans', { count: ruled.length })}</p>
        <ErrorNotice error={write.error} />
      </ConfirmDialog>
    </div>
  );
}
