'use client';
import type { Changes } from '@slipway/contracts/repositories';
import { useMemo } from 'react';
import { useAddressValue } from '../../browser/address.ts';
import { listingOf } from '../changes/listing.ts';
import type { Selection } from '../changes/selection.ts';
import { useChanges } from '../changes/use-changes.ts';

const NOTHING = { files: [], folders: [], left: 0 };

interface FolderListing {
  readonly listing: Pick<Changes, 'files' | 'folders' | 'left'>;
  /** As the address has it; `null`: all files. */
  readonly folder: string | null;
  readonly chooseFolder: (path: string | null) => void;
}

/** The files that are listed: of the whole change, or of one folder where there are too many for one list. */
export function useFolderListing(selection: Selection): FolderListing {
  const [folder, setFolder] = useAddressValue('folder');
  const [, setFile] = useAddressValue('file');
  const all = useChanges(selection).data;
  // What the whole answer lists one by one is not asked for again.
  const isCut = (all?.folders.length ?? 0) > 0;
  const below = useChanges(selection, isCut ? folder : null).data;
  const listing = useMemo(() => (below === undefined ? NOTHING : listingOf(below, folder ?? '')), [below, folder]);
  return {
    listing,
    folder,
    chooseFolder: (path) => {
      setFile(null);
      setFolder(path, 'push');
    },
  };
}
