'use client';
import { useTranslations } from 'next-intl';
import { OrgSettingChoice } from '../form/org-setting-choice.tsx';

/** What becomes of a connection that no rule is about. */
export function UnknownHosts() {
  const t = useTranslations();
  return (
    <OrgSettingChoice
      setting="egressUnknown"
      title={t('adminNetwork.unknownHosts')}
      description={t('adminNetwork.whenAHostIsNotListed')}
      choices={[
        { value: 'ask', label: t('adminNetwork.askAUser'), means: t('adminNetwork.askMeans') },
        { value: 'refuse', label: t('adminNetwork.refuseAlways'), means: t('adminNetwork.refuseMeans') },
      ]}
      loads={t('adminNetwork.theSettings')}
      what={t('adminNetwork.theSettings2')}
      saved={t('adminNetwork.settingSaved')}
    />
  );
}
