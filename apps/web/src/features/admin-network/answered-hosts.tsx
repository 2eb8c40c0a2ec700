'use client';
import { useTranslations } from 'next-intl';
import { OrgSettingChoice } from '../form/org-setting-choice.tsx';

/** What an answer to a request does with an agent that is idle. */
export function AnsweredHosts() {
  const t = useTranslations();
  return (
    <OrgSettingChoice
      setting="egressAnswered"
      title={t('adminNetwork.answeredRequests')}
      description={t('adminNetwork.theAgentIsInformed')}
      choices={[
        { value: 'wait', label: t('adminNetwork.waitForMessage'), means: t('adminNetwork.waitForMessageMeans') },
        { value: 'start', label: t('adminNetwork.goOn'), means: t('adminNetwork.goOnMeans') },
      ]}
      saved={t('adminNetwork.answeredSaved')}
    />
  );
}
