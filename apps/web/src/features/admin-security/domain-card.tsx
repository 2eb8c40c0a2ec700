'use client';
import type { OrgDomain } from '@slipway/contracts/organizations';
import { Badge, Button, Card, ConfirmDialog, Field, Notice, Select } from '@slipway/ui';
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { asAgo } from '../../browser/ago.tsx';
import { type Option, translated } from '../../messages/translate.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { CopyLine } from '../form/secret-box.tsx';
import { useSession } from '../session/me.ts';

const NOBODY = 'nobody';
const JOINING: readonly Option[] = [
  { value: NOBODY, label: 'adminSecurity.doNotJoinAutomatically' },
  { value: 'viewer', label: 'adminSecurity.joinAsViewer' },
  { value: 'member', label: 'adminSecurity.joinAsMember' },
];

type Verify = Pick<UseMutationResult<unknown, Error, void>, 'mutate' | 'isPending' | 'error'>;
type Join = Pick<UseMutationResult<unknown, Error, string>, 'mutate' | 'isPending' | 'error' | 'variables'>;

/** One claimed domain: how to prove it while that is to be done, and who joins by it afterwards. */
export function DomainCard({ domain }: { domain: OrgDomain }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [releasing, setReleasing] = useState(false);
  const refresh = () => queries.invalidateQueries({ queryKey: ['domains', org.id] });
  const verify = useMutation({
    mutationFn: () => api.verifyDomain({ org: org.id, domain: domain.domain }),
    onSettled: refresh,
  });
  const join = useMutation({
    mutationFn: (role: string) =>
      api.updateDomain({
        org: org.id,
        domain: domain.domain,
        body: { autoJoinRole: role === 'viewer' || role === 'member' ? role : null },
      }),
    onSettled: refresh,
  });
  const release = useMutation({
    mutationFn: () => api.releaseDomain({ org: org.id, domain: domain.domain }),
    onSuccess: async () => {
      await refresh();
      setReleasing(false);
    },
  });
  return (
    <Card className="flex flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="min-w-0 text-base font-medium break-all">{domain.domain}</h3>
        <Badge tone={domain.state === 'verified' ? 'ok' : 'warn'}>
          {domain.state === 'verified' ? t('adminSecurity.verified') : t('adminSecurity.notVerified')}
        </Badge>
        <Button
          size="small"
          tone="danger"
          className="ml-auto"
          aria-label={t('adminSecurity.release', { domain: domain.domain })}
          onClick={() => setReleasing(true)}
        >
          {t('adminSecurity.release2')}
        </Button>
      </div>
      {domain.state === 'pending' ? (
        <PendingDomain domain={domain} verify={verify} />
      ) : (
        <VerifiedDomain domain={domain} verify={verify} join={join} />
      )}
      <ConfirmDialog
        open={releasing}
        onOpenChange={(open) => {
          setReleasing(open);
          release.reset();
        }}
        title={t('adminSecurity.release3', { domain: domain.domain })}
        confirmLabel={t('adminSecurity.release2')}
        busy={release.isPending}
        onConfirm={() => release.mutate()}
      >
        <p>{t('adminSecurity.noOneCanJoinWith')}</p>
        <ErrorNotice error={release.error} />
      </ConfirmDialog>
    </Card>
  );
}

function PendingDomain({ domain, verify }: { domain: OrgDomain; verify: Verify }) {
  const t = useTranslations();
  return (
    <>
      <p className="text-sm text-ink-muted">
        {t('adminSecurity.addThisRecordToThe', { type: domain.record.type, domain: domain.domain })}
      </p>
      <CopyLine label={t('adminSecurity.nameOfTheTxtRecord')} text={domain.record.name} />
      <CopyLine label={t('adminSecurity.valueOfTheTxtRecord')} text={domain.record.value} />
      <ErrorNotice error={verify.error} />
      <div className="flex flex-wrap items-center gap-3">
        <Button tone="primary" busy={verify.isPending} onClick={() => verify.mutate()}>
          {t('adminSecurity.verify')}
        </Button>
        {domain.checkedAt === null ? null : (
          <span className="text-xs text-ink-muted">
            {t.rich('adminSecurity.checked', { checkedAt: domain.checkedAt, ago: asAgo })}
          </span>
        )}
      </div>
    </>
  );
}

function VerifiedDomain({ domain, verify, join }: { domain: OrgDomain; verify: Verify; join: Join }) {
  const t = useTranslations();
  return (
    <>
      {domain.recordMissingSince === null ? null : (
        <Notice tone="warn" title={t('adminSecurity.dnsRecordMissing')}>
          <p>
            {t.rich('adminSecurity.theRecordWentMissingNo', {
              type: domain.record.type,
              recordMissingSince: domain.recordMissingSince,
              ago: asAgo,
            })}
          </p>
          <CopyLine label={t('adminSecurity.nameOfTheTxtRecord')} text={domain.record.name} />
          <CopyLine label={t('adminSecurity.valueOfTheTxtRecord')} text={domain.record.value} />
          <Button size="small" busy={verify.isPending} onClick={() => verify.mutate()}>
            {t('adminSecurity.checkAgain')}
          </Button>
        </Notice>
      )}
      <Field label={t('adminSecurity.usersWhoSignInWith')} hint={t('adminSecurity.existingMembersAreNotAffected')}>
        {(control) => (
          <Select
            {...control}
            className="max-w-64"
            options={translated(t, JOINING)}
            disabled={join.isPending}
            value={(join.isPending ? join.variables : domain.autoJoinRole) ?? NOBODY}
            onChange={(role) => join.mutate(role)}
          />
        )}
      </Field>
      <ErrorNotice error={join.error} />
    </>
  );
}
