'use client';
import type { MySettings } from '@slipway/contracts';
import { Checkbox } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { toast } from 'sonner';
import { failureOf } from '../../api/failure.ts';
import { useMe } from '../session/me.ts';
import { useSaveMySettings } from '../settings/use-my-settings.ts';
import { refusesTracking } from './refuses-tracking.ts';

/** The user's own consent. Saved at once: a withdrawal is not to wait for a second button. */
export function UsageDataField({ settings }: { settings: MySettings }) {
  const host = useMe().data?.analytics.host ?? null;
  const save = useSaveMySettings();
  // The server renders without a browser to ask.
  const [isRefused, setRefused] = useState(false);
  useEffect(() => setRefused(refusesTracking()), []);
  const change = useMutation({
    mutationFn: (analytics: boolean) => save({ analytics }),
    onSuccess: ({ analytics }) => void toast.success(analytics === true ? 'Usage data is on.' : 'Usage data is off. What was waiting to be sent is deleted.'),
    onError: (error) => void toast.error(failureOf(error).title),
  });
  if (host === null) return <p className="rounded-lg border border-line bg-surface p-4 text-sm">This installation sends no usage data.</p>;
  const shown = change.isPending ? change.variables : settings.analytics === true;
  return (
    <div className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4">
      <Checkbox
        label="Share usage data"
        hint={`Sent to ${host}, and only from organizations that share usage data too.`}
        checked={shown}
        disabled={change.isPending}
        onChange={(analytics) => change.mutate(analytics)}
      />
      {isRefused ? (
        <p className="rounded-md bg-warn-soft px-3 py-2 text-sm">Your browser asks sites not to track you. While it does, nothing about you is sent.</p>
      ) : null}
      <div className="grid gap-x-6 gap-y-3 text-sm sm:grid-cols-2">
        <div>
          <h3 className="font-medium">What is sent</h3>
          <p className="text-ink-muted">
            When you signed up, and from now on which steps you take: a task was started, finished or failed, a pull request was opened or merged. With it
            counts, times, cost and the name of the model.
          </p>
        </div>
        <div>
          <h3 className="font-medium">What is never sent</h3>
          <p className="text-ink-muted">
            Prompts, answers, code, your name, your e-mail address, and names of repositories and branches. A pseudonym stands for you and for your
            organization.
          </p>
        </div>
      </div>
    </div>
  );
}
