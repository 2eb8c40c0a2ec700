export const promptLog = {
  keepsPromptsAndAnswersFor:
    '{name} keeps prompts and answers for {days, plural, one {# day} other {# days}}. Its admins can read them.',
} as const;
