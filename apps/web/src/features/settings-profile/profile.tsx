'use client';
import { Badge, Section } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { UsageDataField } from '../analytics/usage-data-field.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useMe } from '../session/me.ts';
import { useMySettings } from '../settings/use-my-settings.ts';
import { GitAuthorForm } from './git-author-form.tsx';
import { ThemeField } from './theme-field.tsx';

export function Profile() {
  const t = useTranslations();
  const me = useMe().data;
  const settings = useMySettings();
  return (
    <Page title={t('common.profile')} description={t('settingsProfile.yourIdentityInEveryOrganization')} narrow>
      <Section title={t('settingsProfile.account')} description={t('settingsProfile.yourNameAndEmailAddress')}>
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2 rounded-lg border border-line bg-surface p-4 text-sm">
          <dt className="text-ink-muted">{t('common.name')}</dt>
          <dd className="break-words">{me?.name}</dd>
          <dt className="text-ink-muted">{t('settingsProfile.email')}</dt>
          <dd className="flex flex-wrap items-center gap-2 break-all">
            {me?.email ?? t('common.none')}
            {me?.email ? (
              <Badge tone={me.emailVerified ? 'ok' : 'warn'}>
                {me.emailVerified ? t('settingsProfile.confirmed') : t('settingsProfile.notConfirmed')}
              </Badge>
            ) : null}
          </dd>
        </dl>
      </Section>
      <Section title={t('settingsProfile.commits')} description={t('settingsProfile.theGitAuthorOfCommits')}>
        <QueryPanel query={settings} label={t('settingsProfile.yourSettings')}>
          {(data) => <GitAuthorForm key={data.version} settings={data} />}
        </QueryPanel>
      </Section>
      <Section title={t('settingsProfile.appearance')}>
        <ThemeField />
      </Section>
      <Section title={t('settingsProfile.privacy')} description={t('settingsProfile.whetherTheOperatorOfThis')}>
        <QueryPanel query={settings} label={t('settingsProfile.yourSettings')}>
          {(data) => <UsageDataField settings={data} />}
        </QueryPanel>
      </Section>
    </Page>
  );
}
