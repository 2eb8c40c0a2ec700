'use client';
import { DEFAULT_FLAGS, type FlagKey, type FlagValue } from '@slipway/contracts/operate';
import { useEffect } from 'react';
import { useSession } from '../session/me.ts';
import { useReport } from './use-report.ts';

/** Flags whose showing this page has reported. */
const reported = new Set<string>();

/**
 * The value of a flag for this user here. Call it only where the value decides what is shown: that the user met it is
 * reported, once.
 */
export function useFlag<K extends FlagKey>(key: K): FlagValue<K> {
  const { me, org } = useSession();
  const report = useReport();
  const value = (me.flags[org.id]?.[key] ?? DEFAULT_FLAGS[key]) as FlagValue<K>;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the report is the same for the same user and organization
  useEffect(() => {
    const what = `${me.id} ${key} ${value}`;
    if (reported.has(what)) return;
    reported.add(what);
    report({ name: 'experiment_exposed', flag: key });
  }, [me.id, key, value]);
  return value;
}
