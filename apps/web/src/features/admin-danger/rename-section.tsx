'use client';
import { UpdateOrg } from '@slipway/contracts/organizations';
import { Button, Field, Input, Section } from '@slipway/ui';
import { useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import { useMyOrgs } from '../session/my-orgs.ts';

/** The name that people read, and the first part of every address. */
export function RenameSection() {
  const t = useTranslations();
  const { org } = useSession();
  const router = useRouter();
  const { put } = useMyOrgs();
  const form = useForm({
    initial: { name: org.name, slug: org.slug },
    schema: UpdateOrg,
    requestOf: ({ name, slug }) => ({ ...(name === org.name ? {} : { name }), ...(slug === org.slug ? {} : { slug }) }),
    send: (body) => api.updateOrg({ org: org.id, body }),
    onDone: async (next) => {
      await put(next);
      form.reset({ name: next.name, slug: next.slug });
      if (next.slug !== org.slug) router.replace(`/${next.slug}/admin/danger`);
      toast.success(t('adminDanger.changesSaved'));
    },
  });
  const changed = form.values.name !== org.name || form.values.slug !== org.slug;
  return (
    <Section title={t('adminDanger.nameAndAddress')}>
      <form {...form.props} className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4">
        <Field label={t('common.name')} error={form.error('name')}>
          {(control) => (
            <Input
              {...control}
              maxLength={80}
              autoComplete="off"
              value={form.values.name}
              onChange={(event) => form.set('name', event.target.value)}
            />
          )}
        </Field>
        <Field
          label={t('common.address')}
          error={form.error('slug')}
          hint={
            form.values.slug === org.slug
              ? t('adminDanger.theFirstPartOfEvery')
              : t('adminDanger.allUrlsChangeImmediatelyLinks')
          }
        >
          {(control) => (
            <Input
              {...control}
              maxLength={40}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              value={form.values.slug}
              onChange={(event) => form.set('slug', event.target.value)}
            />
          )}
        </Field>
        <FormFailure failure={form.failure} />
        <Button type="submit" className="self-start" busy={form.busy} disabled={!changed}>
          {t('common.save')}
        </Button>
      </form>
    </Section>
  );
}
