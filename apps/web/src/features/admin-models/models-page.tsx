'use client';
import type { LlmProfile } from '@slipway/contracts/models';
import { Badge, Button, type Column, EmptyState, Section, Table } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { Deployments } from './deployments.tsx';
import { ProfileActions } from './profile-actions.tsx';
import { ProfileDialog } from './profile-form.tsx';

export function ModelsPage() {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [creating, setCreating] = useState(false);
  const mayChange = org.permissions.includes('setting:write');
  const profiles = useQuery({
    queryKey: ['llm-profiles', org.id],
    queryFn: ({ signal }) => api.listLlmProfiles({ org: org.id, signal }),
  });
  const models = useQuery({
    queryKey: ['models', org.id],
    queryFn: ({ signal }) => api.listModels({ org: org.id, signal }),
  });
  const changed = () => {
    void queries.invalidateQueries({ queryKey: ['llm-profiles', org.id] });
    void queries.invalidateQueries({ queryKey: ['models', org.id] });
  };
  return (
    <Page
      title={t('common.models')}
      description={t('adminModels.modelsThatAgentsCanUse')}
      action={
        mayChange ? (
          <Button tone="primary" onClick={() => setCreating(true)}>
            {t('adminModels.newProfile')}
          </Button>
        ) : null
      }
    >
      <QueryPanel query={profiles} label={t('adminModels.theProfiles')}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title={t('adminModels.noProfiles')} className="rounded-lg border border-line">
              {mayChange ? t('adminModels.addAModelWithYour') : t('adminModels.anAdminCanAddProfiles')}
            </EmptyState>
          ) : (
            <Profiles profiles={data} mayChange={mayChange} onChanged={changed} />
          )
        }
      </QueryPanel>
      <Section
        title={t('adminModels.availableToEveryone')}
        description={t('adminModels.modelsProvidedByThisInstallation')}
      >
        <QueryPanel query={models} label={t('adminModels.theModels')}>
          {({ data }) => (
            <ul className="flex flex-wrap gap-2">
              {data
                .filter((model) => model.profile !== true)
                .map((model) => (
                  <li key={model.id} className="rounded-md border border-line px-2 py-1 font-mono text-sm break-all">
                    {model.id}
                    {model.demo ? <span className="font-sans text-ink-muted"> {t('adminModels.scripted')}</span> : null}
                  </li>
                ))}
            </ul>
          )}
        </QueryPanel>
      </Section>
      <Deployments />
      {creating ? (
        <ProfileDialog
          profile={null}
          onClose={() => setCreating(false)}
          onDone={(profile) => {
            toast(t('adminModels.isAvailableForNewTasks', { name: profile.name }));
            setCreating(false);
            changed();
          }}
        />
      ) : null}
    </Page>
  );
}

function Profiles({
  profiles,
  mayChange,
  onChanged,
}: {
  profiles: readonly LlmProfile[];
  mayChange: boolean;
  onChanged: () => void;
}) {
  const t = useTranslations();
  const columns: Column<LlmProfile>[] = [
    {
      label: t('common.name'),
      phone: 'title',
      cell: (profile) => (
        <span className="flex min-w-0 flex-wrap items-center gap-2">
          <span className="break-words">{profile.name}</span>
          {profile.default ? <Badge tone="ok">{t('adminModels.default')}</Badge> : null}
        </span>
      ),
    },
    {
      label: t('common.model'),
      cell: (profile) => <code className="font-mono text-sm break-all">{profile.model}</code>,
    },
    {
      label: t('common.address'),
      cell: (profile) =>
        profile.baseUrl === null ? (
          <span className="text-ink-muted">{t('adminModels.providerDefault')}</span>
        ) : (
          <span className="break-all">{profile.baseUrl}</span>
        ),
    },
    {
      label: t('adminModels.key'),
      cell: (profile) => (profile.hasApiKey ? 'kept' : <span className="text-ink-muted">{t('common.none2')}</span>),
    },
    { label: t('common.changed'), cell: (profile) => <Ago at={profile.updatedAt} /> },
    {
      label: t('common.actions'),
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (profile) => (mayChange ? <ProfileActions profile={profile} onChanged={onChanged} /> : null),
    },
  ];
  return <Table label={t('adminModels.profiles')} columns={columns} rows={profiles} rowKey={(profile) => profile.id} />;
}
