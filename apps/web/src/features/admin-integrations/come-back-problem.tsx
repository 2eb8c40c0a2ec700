'use client';
import { Button, Notice } from '@slipway/ui';
import { failureOfCode } from '../../api/failure.ts';
import { useAddressValue } from '../../browser/address.ts';

/** What kept an app from being registered or installed, as the browser came back with it. */
export function ComeBackProblem() {
  const [problem, setProblem] = useAddressValue('problem');
  if (problem === null) return null;
  const failure = failureOfCode(problem);
  return (
    <Notice tone="bad" title={failure.title} action={<Button onClick={() => setProblem(null)}>Dismiss</Button>}>
      Nothing was changed. {failure.nextStep}
    </Notice>
  );
}
