'use client';
import { CreateLlmProfile, type LlmProfile, UpdateLlmProfile } from '@slipway/contracts';
import { Button, Checkbox, Dialog, Field, Input } from '@slipway/ui';
import { api } from '../../api/client.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';

interface Given {
  /** `null`: a new one. */
  readonly profile: LlmProfile | null;
  readonly onClose: () => void;
  readonly onDone: (profile: LlmProfile) => void;
}

export function ProfileDialog(given: Given) {
  return (
    <Dialog open onOpenChange={(open) => open || given.onClose()} title={given.profile === null ? 'New profile' : `Edit ${given.profile.name}`}>
      <ProfileForm {...given} />
    </Dialog>
  );
}

function ProfileForm({ profile, onClose, onDone }: Given) {
  const { org } = useSession();
  const form = useForm({
    initial: {
      name: profile?.name ?? '',
      model: profile?.model ?? '',
      baseUrl: profile?.baseUrl ?? '',
      apiKey: '',
      temperature: profile?.temperature?.toString() ?? '',
      maxOutputTokens: profile?.maxOutputTokens?.toString() ?? '',
      default: profile?.default ?? false,
    },
    schema: profile === null ? CreateLlmProfile : UpdateLlmProfile,
    requestOf: ({ baseUrl, apiKey, temperature, maxOutputTokens, ...values }) => ({
      ...values,
      baseUrl: baseUrl.trim() === '' ? null : baseUrl.trim(),
      temperature: temperature.trim() === '' ? null : Number(temperature),
      maxOutputTokens: maxOutputTokens.trim() === '' ? null : Number(maxOutputTokens),
      // Left empty the key that is kept stays.
      ...(apiKey === '' ? {} : { apiKey }),
    }),
    send: (body) =>
      profile === null
        ? api.createLlmProfile({ org: org.id, body: body as CreateLlmProfile })
        : api.updateLlmProfile({ org: org.id, profile: profile.id, body: body as UpdateLlmProfile }),
    onDone,
  });
  const { values } = form;
  const text = (name: 'name' | 'model' | 'baseUrl' | 'temperature' | 'maxOutputTokens', label: string, more: { hint?: string; placeholder?: string } = {}) => (
    <Field label={label} {...(more.hint === undefined ? {} : { hint: more.hint })} error={form.error(name)}>
      {(control) => (
        <Input
          {...control}
          value={values[name]}
          placeholder={more.placeholder}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => form.set(name, event.target.value)}
        />
      )}
    </Field>
  );
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      {text('name', 'Name', { hint: 'As people choose it.', placeholder: 'Our Claude' })}
      {text('model', 'Model', {
        hint: 'With its provider in front: openai/, anthropic/, azure/, gemini/ or bedrock/.',
        placeholder: 'anthropic/claude-opus-4-6',
      })}
      {text('baseUrl', 'Address', {
        hint: 'Empty: the provider’s own. Any OpenAI-compatible server at a public https address.',
        placeholder: 'https://models.example.com/v1',
      })}
      <Field
        label="API key"
        hint={profile?.hasApiKey === true ? 'One is kept and is never shown. Another address needs it again.' : 'It is never shown again.'}
        error={form.error('apiKey')}
      >
        {(control) => (
          <Input
            {...control}
            type="password"
            value={values.apiKey}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => form.set('apiKey', event.target.value)}
          />
        )}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        {text('temperature', 'Temperature', { hint: 'Empty: the model’s own.' })}
        {text('maxOutputTokens', 'Longest answer', { hint: 'Tokens; empty: the model’s own.' })}
      </div>
      <Checkbox label="New tasks begin with it" checked={values.default} onChange={(checked) => form.set('default', checked)} />
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {profile === null ? 'Keep it' : 'Save'}
        </Button>
      </div>
    </form>
  );
}
