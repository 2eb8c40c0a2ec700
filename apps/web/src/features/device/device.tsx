'use client';
import { type DeviceRequest, normalUserCode } from '@slipway/contracts';
import { Button, Field, Input } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { type SyntheticEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useAddressValue } from '../../browser/address.ts';
import { AloneCard } from '../frame/alone-card.tsx';
import { Failed } from '../frame/failed.tsx';
import { SignedIn } from '../session/signed-in.tsx';
import { ApproveForm } from './approve-form.tsx';

/** A program without a browser waits for this person: its code, what it would be able to do, yes or no. */
export function Device() {
  return <SignedIn>{() => <Code />}</SignedIn>;
}

function Code() {
  const [given, setGiven] = useAddressValue('user_code');
  const [done, setDone] = useState<'approved' | 'denied' | null>(null);
  const code = normalUserCode(given ?? '');
  const request = useQuery<DeviceRequest>({
    queryKey: ['device', code],
    queryFn: ({ signal }) => api.getDeviceRequest({ userCode: code ?? '', signal }),
    enabled: code !== null && done === null,
    retry: false,
  });
  if (done !== null)
    return (
      <AloneCard title={done === 'approved' ? 'Done' : 'Refused'}>
        <p role="status">
          {done === 'approved'
            ? 'Go back to the program: it goes on by itself. You can close this page.'
            : 'The program was sent away and has got nothing. You can close this page.'}
        </p>
      </AloneCard>
    );
  if (code !== null && request.data !== undefined) return <ApproveForm request={request.data} onDone={setDone} />;
  const missing = request.error !== null && failureOf(request.error).code === 'resource.not-found';
  if (request.error !== null && !missing)
    return (
      <main className="p-6">
        <Failed error={request.error} retry={() => void request.refetch()} className="max-w-xl" />
      </main>
    );
  return (
    <CodeForm
      key={given ?? ''}
      given={given ?? ''}
      busy={code !== null && request.isFetching}
      error={missing ? 'No program waits behind this code. It may have expired, or been used: look at the program for the one that holds now.' : null}
      onCode={setGiven}
    />
  );
}

function CodeForm({ given, busy, error, onCode }: { given: string; busy: boolean; error: string | null; onCode: (code: string) => void }) {
  const [typed, setTyped] = useState(given);
  const [wrong, setWrong] = useState(false);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const code = normalUserCode(typed);
    setWrong(code === null);
    if (code !== null) onCode(code);
  };
  return (
    <AloneCard title="Connect a program">
      <p>Type the code that the program shows, such as the command line on another machine.</p>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        <Field label="Code" error={wrong ? 'A code has eight letters, such as BCDF-GHJK.' : error}>
          {(control) => (
            <Input
              {...control}
              autoComplete="one-time-code"
              autoCapitalize="characters"
              spellCheck={false}
              placeholder="BCDF-GHJK"
              className="h-11 text-center font-mono text-lg tracking-widest uppercase"
              value={typed}
              onChange={(event) => {
                setTyped(event.target.value);
                setWrong(false);
              }}
            />
          )}
        </Field>
        <Button type="submit" tone="primary" size="large" busy={busy}>
          Go on
        </Button>
      </form>
    </AloneCard>
  );
}
