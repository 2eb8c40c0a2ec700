'use client';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { type RefObject, type SyntheticEvent, useEffect, useRef, useState } from 'react';
import type { z } from 'zod';
import { newId } from '../../api/client.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { sentenceOf, wordsOfIssue } from '../../api/sentence.ts';

export interface Form<Values> {
  readonly values: Values;
  set<K extends keyof Values>(name: K, value: Values[K]): void;
  /** Starts again from the given values, without errors. */
  reset(values: Values): void;
  /** What is wrong with a field, or with something inside it (`emails.3`). */
  error(name: string): string | null;
  /** What the server refused and no field can show; `null` while there is none. */
  readonly failure: Failure | null;
  readonly busy: boolean;
  /** For `<form>`. */
  readonly props: {
    readonly ref: RefObject<HTMLFormElement | null>;
    readonly noValidate: true;
    readonly onSubmit: (event?: SyntheticEvent) => void;
  };
}

/**
 * A form whose values become one request.
 * @param options.requestOf what the values mean; the schema decides whether that may be sent.
 * @param options.send gets the parsed request, and a key that stays the same while the request does: pressing again
 * after a lost answer does it once.
 */
export function useForm<Values extends object, Schema extends z.ZodType, Answer>(options: {
  readonly initial: Values;
  readonly schema: Schema;
  readonly requestOf: (values: Values) => unknown;
  readonly send: (request: z.output<Schema>, idempotencyKey: string) => Promise<Answer>;
  readonly onDone: (answer: Answer, request: z.output<Schema>) => void;
  /** Names of the fields that show their own errors, other than those of `initial`. */
  readonly fields?: readonly string[];
}): Form<Values> {
  const t = useTranslations();
  const [values, setValues] = useState(options.initial);
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const [refusals, setRefusals] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // Once the fields are marked, the first of them is where to type.
    if (refusals > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [refusals]);
  const attempt = useRef({ body: '', key: '' });
  const shown = new Set([...Object.keys(options.initial), ...(options.fields ?? [])]);

  const refuse = (found: ReadonlyArray<readonly [string, string]>) => {
    setErrors(Object.fromEntries([...found].reverse().map(([path, message]) => [path, sentenceOf(t, message)])));
    setRefusals((count) => count + 1);
  };
  const send = useMutation({
    mutationFn: (request: z.output<Schema>) => {
      const text = JSON.stringify(request);
      if (attempt.current.body !== text) attempt.current = { body: text, key: newId() };
      return options.send(request, attempt.current.key);
    },
    onSuccess: (answer, request) => {
      attempt.current = { body: '', key: '' };
      options.onDone(answer, request);
    },
    onError: (error) => {
      const { code, detail, fields } = failureOf(error);
      // Of a code that is about one field alone the detail says more: what would do instead.
      const whole = fields.length === 1 && code !== 'request.invalid' && detail !== '';
      refuse(fields.map((field) => [field.path, whole ? detail : field.message]));
    },
  });

  const failure = send.isError ? failureOf(send.error) : null;
  const shownByFields =
    failure !== null &&
    failure.fields.length > 0 &&
    failure.fields.every((field) => shown.has(field.path.split('.')[0] ?? ''));
  return {
    values,
    set: (name, value) => {
      setValues((all) => ({ ...all, [name]: value }));
      setErrors((all) => Object.fromEntries(Object.entries(all).filter(([path]) => path.split('.')[0] !== name)));
    },
    reset: (next) => {
      setValues(next);
      setErrors({});
      send.reset();
    },
    error: (name) => errors[name] ?? Object.entries(errors).find(([path]) => path.startsWith(`${name}.`))?.[1] ?? null,
    failure: shownByFields ? null : failure,
    busy: send.isPending,
    props: {
      ref: form,
      noValidate: true,
      onSubmit: (event) => {
        event?.preventDefault();
        if (send.isPending) return;
        const parsed = options.schema.safeParse(options.requestOf(values));
        if (parsed.success) {
          setErrors({});
          return send.mutate(parsed.data);
        }
        send.reset();
        refuse(parsed.error.issues.map((issue) => [issue.path.join('.'), wordsOfIssue(issue)]));
      },
    },
  };
}
