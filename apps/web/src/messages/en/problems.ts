export const problems = {
  enterTheFullUrlSuch: 'Enter the full URL, such as https://github.com/owner/name.',
  thisMustNotBeEmpty: 'This must not be empty.',
  chooseAtLeastOne: 'Choose at least one.',
  thisIsNotANumber: 'This is not a number.',
  thisIsNotAWholeNumber: 'This is not a whole number.',
  thisIsNotAnEmail: 'This is not an email address.',
  this: 'This {message}',
  atLeast: 'This must be at least {bound}.',
  atMost: 'This must be at most {bound}.',
} as const;
