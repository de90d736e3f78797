request "r" {
  method = "GET"
  uri = "/a"
  headers = { X-A = 1, X-B = true }
}
scenario "s" {
  weight = "2"
  requests = ["r"]
}
