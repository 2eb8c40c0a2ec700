'use client';
import { Notice } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { OrgSettingChoice } from '../form/org-setting-choice.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';

/** Names of the preview that are shown; the rest is counted. */
const SHOWN_NAMES = 20;

/** Whether sandboxes are given the values of secrets. */
export function SecretsInSandbox() {
  const t = useTranslations();
  return (
    <OrgSettingChoice
      setting="secretsInSandbox"
      title={t('adminCredentials.inSandboxes')}
      description={t('adminCredentials.inSandboxesAre')}
      choices={[
        { value: 'allowed', label: t('adminCredentials.allowed'), means: t('adminCredentials.allowedMeans') },
        {
          value: 'brokered-only',
          label: t('adminCredentials.brokeredOnly'),
          means: t('adminCredentials.brokeredOnlyMeans'),
        },
      ]}
      saved={t('adminCredentials.settingSaved')}
      before={(chosen) => (chosen === 'brokered-only' ? <Withheld /> : null)}
    />
  );
}

/** What agents no longer get, before it is saved. */
function Withheld() {
  const t = useTranslations();
  const { org } = useSession();
  const preview = useQuery({
    queryKey: ['credentials-preview', org.id],
    queryFn: ({ signal }) => api.previewBrokeredOnly({ org: org.id, signal }),
  });
  return (
    <QueryPanel query={preview} label={t('adminCredentials.preview')}>
      {({ data, count, personal }) => {
        if (count === 0) return <Notice>{t('adminCredentials.nothingIsWithheld')}</Notice>;
        const shown = data.slice(0, SHOWN_NAMES);
        const left = count - personal - shown.length;
        return (
          <Notice tone="warn" title={t('adminCredentials.withheld', { count })}>
            <ul className="flex flex-wrap gap-x-3 gap-y-1 py-1 text-xs">
              {shown.map(({ id, name }) => (
                <li key={id}>
                  <code className="font-mono break-all">{name}</code>
                </li>
              ))}
              {left > 0 ? <li>{t('adminCredentials.andMore', { count: left })}</li> : null}
              {personal > 0 ? <li>{t('adminCredentials.personalOnes', { count: personal })}</li> : null}
            </ul>
            <p>{t('adminCredentials.withheldMeans')}</p>
          </Notice>
        );
      }}
    </QueryPanel>
  );
}
