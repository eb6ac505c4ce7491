"""The requests to contenders: the same documents for all."""

import json
from dataclasses import dataclass

PAGE, VISITED = 30, 10  # entries of a page, and of the profile that front ends show
_NODE = """cursor node { ... on Post { id text createdAt likeCount repostCount commentCount
  author { id login name } } }"""
HOME = f"""query Home($first: Int!) {{
  homeTimeline(first: $first) {{ edges {{ {_NODE} }} pageInfo {{ endCursor hasNextPage }} }} }}"""
PROFILE = f"""query Profile($login: String!, $first: Int!) {{ user(login: $login) {{
  id login name bio followerCount followingCount postCount
  timeline(first: $first) {{ edges {{ {_NODE} }} pageInfo {{ endCursor hasNextPage }} }} }} }}"""
_AUTHOR = "author { id login name }"
VISIT = f"""query Visit($login: String!, $first: Int!) {{ user(login: $login) {{
  id login name bio followerCount followingCount postCount
  timeline(first: $first) {{
    edges {{ cursor node {{
      ... on Post {{ id text createdAt likeCount repostCount commentCount viewerHasLiked {_AUTHOR} }} }} }}
    pageInfo {{ endCursor hasNextPage }} }} }} }}"""
FEED = f"""query Feed($first: Int!) {{ homeTimeline(first: $first) {{
  edges {{ cursor
    node {{
      ... on Post {{ id text createdAt likeCount repostCount commentCount viewerHasLiked {_AUTHOR} }}
      ... on Repost {{ original {{ id text createdAt {_AUTHOR} }} }} }}
    repostedBy(first: 3) {{ user {{ id login name }} }} repostedByCount }}
  pageInfo {{ endCursor hasNextPage }} }} }}"""
POST = """mutation Post($text: String!) { post(input: { text: $text }) {
  status { id text createdAt author { id login name } } userErrors { message } } }"""

LIKE = """mutation Like($post: ID!) { like(input: { postId: $post }) {
  post { likeCount viewerHasLiked } userErrors { message } } }"""

REPOST = """mutation Repost($post: ID!, $text: String) { repost(input: { postId: $post, text: $text }) {
  repost { id } userErrors { message } } }"""


PATH = "/graphql"


@dataclass(frozen=True, slots=True)
class Request:
    """One request, with its token."""

    token: str
    document: str
    variables: dict[str, str | int]


def home(token: str) -> Request:
    """Return the request for the first page of the home."""
    return Request(token, HOME, {"first": PAGE})


def feed(token: str) -> Request:
    """Return the request for the first page of the home as a front end shows it: flags, reposters, quoted posts."""
    return Request(token, FEED, {"first": PAGE})


def repost(token: str, post: str, text: str = "") -> Request:
    """Return the request that reposts a post, or quotes it in a text; of Perch only."""
    return Request(token, REPOST, {"post": post, **({"text": text} if text else {})})


def profile(token: str, login: str) -> Request:
    """Return the request for a member and the first page of their posts."""
    return Request(token, PROFILE, {"login": login, "first": PAGE})


def visit(token: str, login: str) -> Request:
    """Return the request for a member and their newest posts as a front end shows them, with the viewer's likes."""
    return Request(token, VISIT, {"login": login, "first": VISITED})


def post(token: str, text: str) -> Request:
    """Return the request that publishes a text."""
    return Request(token, POST, {"text": text})


def like(token: str, post: str) -> Request:
    """Return the request that likes a post; of Perch only."""
    return Request(token, LIKE, {"post": post})


def body(request: Request) -> bytes:
    """Return the body of a request."""
    return json.dumps({"query": request.document, "variables": request.variables}).encode()


def headers(request: Request) -> dict[str, str]:
    """Return the headers of a request, without its length."""
    return {
        "Host": "127.0.0.1",
        "Accept": "application/json",
        "Authorization": f"Bearer {request.token}",
        "Content-Type": "application/json",
    }


def encoded(request: Request) -> str:
    """Return all that is sent for a request."""
    content = body(request)
    lines = [f"{key}: {value}" for key, value in {**headers(request), "Content-Length": len(content)}.items()]
    return "\r\n".join([f"POST {PATH} HTTP/1.1", *lines, "", content.decode()])
