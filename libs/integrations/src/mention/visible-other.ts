const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
const URL = /\b(?:[a-z][a-z0-9+.-]{1,31}:\/\/|www\.|mailto:)[^\s<>|\]]*/gi;

/** Jira's wiki markup without code, quotes and links; `[~name]` stays. */
export function visibleWiki(text: string): string[] {
  const prose = text
    .replace(/\{(code|noformat|quote)(?::[^{}\n]{0,200})?\}[\s\S]*?(?:\{\1\}|$)/gi, blank)
    .replace(/^[ \t]*bq\.[^\n]*/gim, blank)
    .replace(/\{\{[^\n]*?(?:\}\}|$)/gm, blank)
    .replace(/\[(?!~)[^[\]\n]{0,2000}\]/g, blank)
    .replace(/![^!\s\n][^!\n]{0,2000}!/g, blank)
    .replace(URL, blank);
  return [prose];
}

/** Slack's mrkdwn without code, quotes and links; `<@U…>` stays. An unclosed fence hides what follows. */
export function visibleMrkdwn(text: string): string[] {
  const prose = text
    .replace(/```[\s\S]*?(?:```|$)/g, blank)
    .replace(/`[^`\n]+`/g, blank)
    .replace(/^[ \t]*(?:&gt;|>)&gt;&gt;[\s\S]*$/m, blank)
    .replace(/^[ \t]*>>>[\s\S]*$/m, blank)
    .replace(/^[ \t]*(?:&gt;|>)[^\n]*/gm, blank)
    .replace(/<(?!@)[^<>]{0,4000}>/g, blank)
    .replace(URL, blank);
  return [prose];
}
