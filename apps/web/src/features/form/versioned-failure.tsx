import { Button, Notice } from '@slipway/ui';
import type { Failure } from '../../api/failure.ts';
import { FormFailure } from './form-failure.tsx';

/** What the server refused of a versioned form; that somebody else was faster is told with the way on. */
export function VersionedFailure({ failure, what, reread }: { failure: Failure | null; what: string; reread: () => void }) {
  if (failure?.code !== 'settings.changed') return <FormFailure failure={failure} />;
  return (
    <Notice tone="warn" title={`Somebody else has changed ${what} meanwhile.`} action={<Button onClick={reread}>Read them again</Button>}>
      Yours are not saved. Reading them again replaces what you have typed.
    </Notice>
  );
}
