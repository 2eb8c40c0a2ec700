'use client';
import { ChangesAgainst } from '@slipway/contracts/repositories';
import { useAddressValue } from '../../browser/address.ts';

/** What the changes are compared with, and whose they are. */
export interface Selection {
  /** `base`, `turn`, `looked`, or the hash of a commit. */
  readonly against: string;
  /** Another repository of the workspace; `null`: the conversation's own. */
  readonly repository: string | null;
}

export interface ChangesAddress {
  readonly selection: Selection;
  /** The list of commits is shown in place of the files. */
  readonly commits: boolean;
  choose(against: string): void;
  chooseRepository(path: string | null): void;
}

/** The selection as the address has it, in `against` and `repo`; what means nothing there is the base. */
export function useChangesAddress(): ChangesAddress {
  const [against, setAgainst] = useAddressValue('against');
  const [repository, setRepository] = useAddressValue('repo');
  const [, setFile] = useAddressValue('file');
  const [, setFolder] = useAddressValue('folder');
  return {
    selection: { against: ChangesAgainst.safeParse(against).data ?? 'base', repository },
    commits: against === 'commits',
    choose: (next) => {
      setFile(null);
      setFolder(null);
      setAgainst(next === 'base' ? null : next, 'push');
    },
    chooseRepository: (path) => {
      setFile(null);
      setFolder(null);
      // A commit of one repository is none of another.
      setAgainst(against !== null && ['turn', 'looked', 'commits'].includes(against) ? against : null);
      setRepository(path, 'push');
    },
  };
}

/** Of this there is what was last seen also while the sandbox is away. */
export function isKept({ against, repository }: Selection): boolean {
  return against === 'base' && repository === null;
}

/** As a query of the operations about changes. */
export function queryOf({ against, repository }: Selection): { against: string; repository?: string } {
  return { against, ...(repository === null ? {} : { repository }) };
}
