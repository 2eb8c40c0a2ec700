'use client';
import type { MySettings } from '@slipway/contracts/identity';
import { Checkbox } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import { toast } from 'sonner';
import { failureOf } from '../../api/failure.ts';
import { useChosen } from '../../api/use-chosen.ts';
import { useMe } from '../session/me.ts';
import { useSaveMySettings } from '../settings/use-my-settings.ts';
import { refusesTracking } from './refuses-tracking.ts';

/** The user's own consent. Saved at once: a withdrawal is not to wait for a second button. */
export function UsageDataField({ settings }: { settings: MySettings }) {
  const t = useTranslations();
  const host = useMe().data?.analytics.host ?? null;
  const save = useSaveMySettings();
  // The server renders without a browser to ask.
  const [isRefused, setRefused] = useState(false);
  useEffect(() => setRefused(refusesTracking()), []);
  const change = useMutation({
    mutationFn: (analytics: boolean) => save({ analytics }),
    onSuccess: ({ analytics }) =>
      void toast.success(analytics === true ? t('analytics.usageDataIsOn') : t('analytics.usageDataIsOffUnsent')),
    onError: (error) => void toast.error(failureOf(error).title),
  });
  const [isOn, setOn] = useChosen(settings.analytics === true, change.isPending);
  if (host === null)
    return (
      <p className="rounded-lg border border-line bg-surface p-4 text-sm">
        {t('analytics.thisInstallationSendsNoUsage')}
      </p>
    );
  return (
    <div className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4">
      <Checkbox
        label={t('analytics.shareUsageData')}
        hint={t('analytics.sentToAndOnlyFrom', { host })}
        checked={isOn}
        disabled={change.isPending}
        onChange={(analytics) => {
          setOn(analytics);
          change.mutate(analytics);
        }}
      />
      {isRefused ? (
        <p className="rounded-md bg-warn-soft px-3 py-2 text-sm">{t('analytics.yourBrowserAsksSitesNot')}</p>
      ) : null}
      <div className="grid gap-x-6 gap-y-3 text-sm sm:grid-cols-2">
        <div>
          <h3 className="font-medium">{t('analytics.whatIsSent')}</h3>
          <p className="text-ink-muted">{t('analytics.whenYouSignedUpAnd')}</p>
        </div>
        <div>
          <h3 className="font-medium">{t('analytics.whatIsNeverSent')}</h3>
          <p className="text-ink-muted">{t('analytics.promptsAnswersCodeYourName')}</p>
        </div>
      </div>
    </div>
  );
}
