'use client';
import type { OrgDomain } from '@slipway/contracts';
import { Badge, Button, Card, ConfirmDialog, Field, Notice, Select } from '@slipway/ui';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { CopyLine } from '../form/secret-box.tsx';
import { useSession } from '../session/me.ts';

const NOBODY = 'nobody';
const JOINING = [
  { value: NOBODY, label: 'Nobody joins by it' },
  { value: 'viewer', label: 'Join as viewer' },
  { value: 'member', label: 'Join as member' },
];

/** One claimed domain: how to prove it while that is to be done, and who joins by it afterwards. */
export function DomainCard({ domain }: { domain: OrgDomain }) {
  const { org } = useSession();
  const queries = useQueryClient();
  const [releasing, setReleasing] = useState(false);
  const refresh = () => queries.invalidateQueries({ queryKey: ['domains', org.id] });
  const verify = useMutation({ mutationFn: () => api.verifyDomain({ org: org.id, domain: domain.domain }), onSettled: refresh });
  const join = useMutation({
    mutationFn: (role: string) =>
      api.updateDomain({ org: org.id, domain: domain.domain, body: { autoJoinRole: role === 'viewer' || role === 'member' ? role : null } }),
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
        <Badge tone={domain.state === 'verified' ? 'ok' : 'warn'}>{domain.state === 'verified' ? 'Verified' : 'Not proved yet'}</Badge>
        <Button size="small" tone="danger" className="ml-auto" aria-label={`Give up ${domain.domain}`} onClick={() => setReleasing(true)}>
          Give up
        </Button>
      </div>
      {domain.state === 'pending' ? (
        <>
          <p className="text-sm text-ink-muted">
            Add this {domain.record.type} record to the DNS of {domain.domain}, then have it looked up. It may take up to an hour until a new record is seen.
          </p>
          <CopyLine label="Name of the TXT record" text={domain.record.name} />
          <CopyLine label="Value of the TXT record" text={domain.record.value} />
          <ErrorNotice error={verify.error} />
          <div className="flex flex-wrap items-center gap-3">
            <Button tone="primary" busy={verify.isPending} onClick={() => verify.mutate()}>
              Look it up
            </Button>
            {domain.checkedAt === null ? null : (
              <span className="text-xs text-ink-muted">
                Looked up <Ago at={domain.checkedAt} />
              </span>
            )}
          </div>
        </>
      ) : (
        <>
          {domain.recordMissingSince === null ? null : (
            <Notice tone="warn" title="DNS record missing">
              <p>
                The {domain.record.type} record was removed <Ago at={domain.recordMissingSince} />. Nobody joins by this domain until it is back. After seven
                days the domain has to be verified again.
              </p>
              <CopyLine label="Name of the TXT record" text={domain.record.name} />
              <CopyLine label="Value of the TXT record" text={domain.record.value} />
              <Button size="small" busy={verify.isPending} onClick={() => verify.mutate()}>
                Check again
              </Button>
            </Notice>
          )}
          <Field label="Who signs in with a confirmed address of it" hint="Those who have joined stay when you change this.">
            {(control) => (
              <Select
                {...control}
                className="max-w-64"
                options={JOINING}
                disabled={join.isPending}
                value={(join.isPending ? join.variables : domain.autoJoinRole) ?? NOBODY}
                onChange={(role) => join.mutate(role)}
              />
            )}
          </Field>
          <ErrorNotice error={join.error} />
        </>
      )}
      <ConfirmDialog
        open={releasing}
        onOpenChange={(open) => {
          setReleasing(open);
          release.reset();
        }}
        title={`Give ${domain.domain} up?`}
        confirmLabel="Give up"
        busy={release.isPending}
        onConfirm={() => release.mutate()}
      >
        <p>Nobody joins by an address of it any more, and another organization can claim it. Who has joined by it stays a member.</p>
        <ErrorNotice error={release.error} />
      </ConfirmDialog>
    </Card>
  );
}
