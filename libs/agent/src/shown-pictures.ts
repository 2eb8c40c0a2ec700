import { type ChatMessage, MAX_PICTURES, type PictureFile } from '@slipway/llm';

/** Most that pictures of messages take of one request. UTF-16 code units of data URLs; the gateway takes 32 MiB. */
const MAX_LENGTH = 16 * 1024 * 1024;

/** Reads a picture of the sandbox as a data URL; `null` when it is not there, or no picture any more. */
export type ReadPicture = (file: PictureFile) => Promise<string | null>;

/**
 * The messages with the newest of the users' pictures read in, as many as one request takes. A picture that cannot be
 * read is left out: its message names the file.
 */
export async function withShownPictures(
  messages: readonly ChatMessage[],
  read: ReadPicture | undefined,
): Promise<ChatMessage[]> {
  let left = read === undefined ? 0 : MAX_PICTURES;
  let length = 0;
  const shown: ChatMessage[] = [];
  for (const message of messages.toReversed()) {
    if (message.role !== 'user' || message.pictures === undefined) {
      shown.push(message);
      continue;
    }
    const { pictures, ...rest } = message;
    const images: string[] = [];
    for (const picture of pictures) {
      if (left === 0 || read === undefined) break;
      const url = await read(picture);
      if (url === null || length + url.length > MAX_LENGTH) continue;
      left -= 1;
      length += url.length;
      images.push(url);
    }
    shown.push(images.length === 0 ? rest : { ...rest, images });
  }
  return shown.reverse();
}
