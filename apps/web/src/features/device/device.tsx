'use client';
import { type DeviceRequest, normalUserCode } from '@slipway/contracts/identity';
import { Button, Field, Input } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { type SyntheticEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useAddressValue } from '../../browser/address.ts';
import { AloneCard } from '../frame/alone-card.tsx';
import { Failed } from '../frame/failed.tsx';
import { SignedIn } from '../session/signed-in.tsx';
import { ApproveForm } from './approve-form.tsx';

/** A program without a browser waits for this user: its code, what it would be able to do, yes or no. */
export function Device() {
  return <SignedIn>{() => <Code />}</SignedIn>;
}

function Code() {
  const t = useTranslations();
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
      <AloneCard title={done === 'approved' ? t('common.done') : t('device.denied')}>
        <p role="status">{done === 'approved' ? t('device.goBackToTheDevice') : t('device.accessWasDeniedYouCan')}</p>
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
      error={missing ? t('device.noDeviceIsWaitingFor') : null}
      onCode={setGiven}
    />
  );
}

function CodeForm({
  given,
  busy,
  error,
  onCode,
}: {
  given: string;
  busy: boolean;
  error: string | null;
  onCode: (code: string) => void;
}) {
  const t = useTranslations();
  const [typed, setTyped] = useState(given);
  const [wrong, setWrong] = useState(false);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const code = normalUserCode(typed);
    setWrong(code === null);
    if (code !== null) onCode(code);
  };
  return (
    <AloneCard title={t('device.connectADevice')}>
      <p>{t('device.enterTheCodeThatThe')}</p>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        <Field label={t('device.code')} error={wrong ? t('device.aCodeHasEightLetters') : error}>
          {(control) => (
            <Input
              {...control}
              autoComplete="one-time-code"
              autoCapitalize="characters"
              spellCheck={false}
              placeholder={t('device.bcdfGhjk')}
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
          {t('device.continue')}
        </Button>
      </form>
    </AloneCard>
  );
}
